"""A real Prometheus for tests. Needs the standard library and the program `prometheus`."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.parse

from server_process import DIRECT, PATIENCE_SECONDS

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = SOURCE / "deploy/prometheus"
ADDRESS = re.compile(r'msg="Listening on".* address=(\S+)')
READY = "Server is ready to receive web requests"


class QueryError(Exception):
    """Prometheus refused a query; the text says why."""


def derive_config(folder, target, interval="1s"):
    """Writes the shipped configuration with another server, scraped and evaluated every `interval`,
    and without the DCGM exporter, and its rules into `folder`; returns the configuration's path."""
    for rules in ("recording_rules.yml", "alerts.yml"):
        shutil.copy(SHIPPED / rules, folder)
    text = (SHIPPED / "prometheus.yml").read_text()
    text, targets = re.subn(r'"reduction-server:9464"', f'"{target}"', text)
    text, intervals = re.subn(r"(?m)^(  (?:scrape|evaluation)_interval:) \S+$", rf"\1 {interval}",
                              text)
    text, exporters = re.subn(r"(?m)^  - job_name: dcgm-exporter\n(?: {4}.*\n)+", "", text)
    assert (targets, intervals, exporters) == (1, 2, 1), (targets, intervals, exporters)
    path = pathlib.Path(folder) / "prometheus.yml"
    path.write_text(text)
    return path


class PrometheusApi:
    """The query API of the Prometheus at a URL. Times are seconds since the epoch."""

    def __init__(self, url):
        self.url = url.rstrip("/")

    def get(self, path, **parameters):
        """The data of an answer of the HTTP API."""
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with DIRECT.open(url, timeout=PATIENCE_SECONDS) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            raise QueryError(error.read().decode()) from None

    def query(self, expression, **parameters):
        """[(labels, value)] of an instant vector or a scalar, now or at `time`."""
        data = self.get("query", query=expression, **parameters)
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(series["metric"], float(series["value"][1])) for series in data["result"]]

    def query_range(self, expression, start, end, step):
        """[(labels, times, values)]."""
        data = self.get("query_range", query=expression, start=start, end=end, step=step)
        return [(series["metric"], [float(time) for time, _ in series["values"]],
                 [float(value) for _, value in series["values"]]) for series in data["result"]]

    def rules(self, kind):
        """All rules of a kind, "record" or "alert", as the API describes them."""
        return [rule for group in self.get("rules", type=kind)["groups"] for rule in group["rules"]]


class PrometheusServer(PrometheusApi):
    """Runs Prometheus with a configuration and a data folder until the end of a with statement."""

    def __init__(self, config, data):
        self.log = []
        self._process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={data}",
             "--storage.tsdb.retention.time=10y", "--web.listen-address=127.0.0.1:0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        watchdog = threading.Timer(PATIENCE_SECONDS, self._process.kill)
        watchdog.start()
        try:
            super().__init__("http://" + self._wait_until_ready())
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            watchdog.cancel()
        self._reader = threading.Thread(target=self.log.extend, args=(self._process.stdout,))
        self._reader.start()

    def _wait_until_ready(self):
        address = None
        for line in self._process.stdout:
            self.log.append(line)
            if found := ADDRESS.search(line):
                address = found[1]
            if READY in line:
                return address
        raise AssertionError("Prometheus did not start: " + "".join(self.log))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.kill(self._process.pid, signal.SIGTERM)
        self._process.wait(timeout=PATIENCE_SECONDS)
        self._reader.join()
        self._process.stdout.close()
