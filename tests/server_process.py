"""A reduction-server process for tests. Needs the standard library alone."""

import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.request

SERVING = re.compile(r"event=serving.*listen=(\S+) metrics=(\S+)")
# How long an event that a test waits for may take before the test fails. No test sleeps for it.
PATIENCE_SECONDS = 60

# Clients would ask a proxy of the environment even for this machine.
os.environ["no_proxy"] = "127.0.0.1,localhost"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def eventually(condition, what, every=0.01):
    """Asks `condition` again and again until it gives something true, which is returned."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"in {PATIENCE_SECONDS} s this did not happen: {what}")
        time.sleep(every)
    return result


class ServerProcess:
    """Runs `command`, which must become a server, until the end of a with statement.

    listen (a list) and metrics are its addresses, pid its process, log the lines it has written.
    After stop(), status is its exit status.
    """

    def __init__(self, command, **popen_options):
        self.log = []
        self.listen = None
        self.metrics = None
        self.status = None
        self._changed = threading.Condition()
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, **popen_options)
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        try:
            serving = self.wait_for_log(SERVING)
        except BaseException:
            self._process.kill()
            raise
        self.listen = serving[1].split(",")
        self.metrics = serving[2]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.status is None:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    def running(self):
        return self._process.poll() is None

    def peak_resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10

    def send_signal(self, number):
        self._process.send_signal(number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def wait(self):
        """Waits for the end of the process and returns its exit status."""
        self.status = self._process.wait(timeout=PATIENCE_SECONDS)
        self._reader.join()
        return self.status

    def stop(self):
        self.terminate()
        return self.wait()

    def wait_for_log(self, pattern):
        """The first match of a regular expression in the log, now or later."""
        seen = 0
        with self._changed:
            while True:
                for line in self.log[seen:]:
                    if match := re.search(pattern, line or ""):
                        return match
                    if line is None:
                        raise AssertionError(f"no {pattern!r} in the log: {self.log}")
                seen = len(self.log)
                if not self._changed.wait(PATIENCE_SECONDS):
                    raise AssertionError(f"no {pattern!r} in the log: {self.log}")

    def _read_log(self):
        for line in self._process.stdout:
            self._append(line.rstrip("\n"))
        self._append(None)

    def _append(self, line):
        with self._changed:
            self.log.append(line)
            self._changed.notify_all()

    def scrape(self):
        """The text of /metrics."""
        with DIRECT.open(f"http://{self.metrics}/metrics", timeout=PATIENCE_SECONDS) as response:
            return response.read().decode()

    def metrics_now(self):
        """A function metric(name, **labels) over one scrape: the sum of the series of `name` that
        have these labels, of which there must be at least one."""
        series = [(found[1], dict(re.findall(r'(\w+)="([^"]*)"', found[2] or "")), float(found[3]))
                  for found in re.finditer(r"(?m)^(\w+)(?:\{(.*)\})? (\S+)$", self.scrape())]

        def metric(name, **labels):
            values = [value for found, pairs, value in series
                      if found == name and labels.items() <= pairs.items()]
            if not values:
                raise AssertionError(f"no series {name} with {labels}")
            return sum(values)
        return metric

    def metric(self, name, **labels):
        return self.metrics_now()(name, **labels)
