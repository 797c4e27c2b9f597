"""How long a scrape of the metrics takes while a server on the CPU works as hard as it can.

Usage: scrape_time.py PROGRAMS, the folder that has reduction-server and reduction. Load: streams of
64 MiB over four connections, and sums of 4 KiB over four more. Ends with status 1 when the median of
100 scrapes takes 50 ms or more.
"""

import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from server_process import ServerProcess, eventually  # noqa: E402

SCRAPES = 100
PAUSE_SECONDS = 0.1
LIMIT_SECONDS = 0.05


def bench(programs, server, *options):
    return subprocess.Popen(
        [programs / "reduction", "--target=" + server.listen[0], "--connections=4",
         "--concurrency=4", "--duration=3600", *options, "bench"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def scrape_times(server):
    times = []
    for _ in range(SCRAPES):
        time.sleep(PAUSE_SECONDS)
        begin = time.perf_counter()
        server.scrape()
        times.append(time.perf_counter() - begin)
    return sorted(times)


def report(what, times):
    print(f"scrape, {what}: median {statistics.median(times) * 1e3:.1f} ms, "
          f"90% {times[SCRAPES * 9 // 10] * 1e3:.1f} ms, longest {times[-1] * 1e3:.1f} ms")


def main(programs):
    with ServerProcess([programs / "reduction-server", "--listen=127.0.0.1:0",
                        "--metrics=127.0.0.1:0", "--device=cpu"]) as server:
        report("idle server", scrape_times(server))
        loads = [bench(programs, server, "--size=64MiB"), bench(programs, server, "--size=4KiB")]
        try:
            eventually(lambda: all(server.metric("reduction_received_bytes_total", source=source)
                                   for source in ("inline", "stream")), "both loads run")
            before, began = server.metrics_now(), time.monotonic()
            times = scrape_times(server)
            after, seconds = server.metrics_now(), time.monotonic() - began
            assert all(load.poll() is None for load in loads), "a load has ended"
        finally:
            for load in loads:
                load.kill()
                load.wait()
        report("full load", times)
        for name, unit in (("reduction_bytes_total", "bytes/s"),
                           ("grpc_server_handled_total", "calls/s")):
            print(f"load: {(after(name) - before(name)) / seconds:.3g} {unit}")
        server.stop()
    if statistics.median(times) >= LIMIT_SECONDS:
        raise SystemExit(f"error: a scrape takes {LIMIT_SECONDS} s or more")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
