#!/usr/bin/env python3
"""Records a server's /metrics for draw_dashboard.py, where no Prometheus is at hand. Needs plain
Python 3.8 or newer; copy this file alone.

    record_metrics.py ADDRESS FILE [SECONDS]

ADDRESS is the server's --metrics, like 127.0.0.1:9464. Without SECONDS it records until SIGINT or
SIGTERM. FILE gets one line of JSON a second, {"time": seconds since the epoch, "metrics": text or
null where the server did not answer}, compressed when the name ends in .gz.
"""

import gzip
import json
import signal
import sys
import threading
import time
import urllib.request

INTERVAL_SECONDS = 1
TIMEOUT_SECONDS = 5
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def scrape(address):
    """The text of /metrics, or None."""
    try:
        with DIRECT.open(f"http://{address}/metrics", timeout=TIMEOUT_SECONDS) as response:
            return response.read().decode()
    except OSError:
        return None


def record(address, output, seconds, stop):
    """Writes scrapes until `stop` is set or `seconds` have passed; returns how many succeeded."""
    succeeded = 0
    start = time.monotonic()
    turn = 0
    while not stop.wait(max(0, start + turn * INTERVAL_SECONDS - time.monotonic())):
        if seconds is not None and time.monotonic() - start > seconds:
            break
        moment = time.time()
        text = scrape(address)
        output.write(json.dumps({"time": round(moment, 3), "metrics": text}) + "\n")
        output.flush()
        succeeded += text is not None
        turn = max(turn + 1, int((time.monotonic() - start) / INTERVAL_SECONDS))
    return succeeded


def main(address, path, seconds=None):
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with (gzip.open if path.endswith(".gz") else open)(path, "wt") as output:
        succeeded = record(address, output, None if seconds is None else float(seconds), stop)
    print(f"{succeeded} scrapes of {address} in {path}")
    return 0 if succeeded else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
