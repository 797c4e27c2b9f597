"""Makes the database of a Prometheus out of a file that record_metrics.py wrote. Needs promtool."""

import gzip
import json
import math
import pathlib
import re
import shutil
import subprocess

from prometheus_server import SHIPPED, PrometheusServer

SERIES = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.M)
# A group of recording rules uses those before it: each needs the results of the last in the database.
# Rules are evaluated until nothing new comes of it: once, what the last group gives was missing.
GROUPS = (SHIPPED / "recording_rules.yml").read_text().count("- name: ")
RULE_INTERVAL = "1s"


def read(path):
    """[(time, text or None)] of a recording."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as lines:
        scrapes = [json.loads(line) for line in lines]
    return [(scrape["time"], scrape["metrics"]) for scrape in scrapes]


def open_metrics(scrapes, job, instance):
    """OpenMetrics text of all scrapes, each sample with its time and with a target's labels."""
    target = f'job="{job}",instance="{instance}"'
    for time, text in scrapes:
        yield f"up{{{target}}} {int(text is not None)} {time}\n"
        for name, labels, value in SERIES.findall(text or ""):
            yield f"{name}{{{target}{',' if labels else ''}{labels}}} {value} {time}\n"
    yield "# EOF\n"


def promtool(*arguments):
    done = subprocess.run(["promtool", "tsdb", "create-blocks-from", *map(str, arguments)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)


def build_database(recording, folder, instance):
    """Fills folder/data with a recording and with what the recording rules make of it. Returns the
    path of a configuration that scrapes nothing, and the first and last time of the recording."""
    folder = pathlib.Path(folder)
    scrapes = read(recording)
    samples = folder / "samples.txt"
    with samples.open("w") as output:
        output.writelines(open_metrics(scrapes, "reduction-server", instance))
    promtool("openmetrics", samples, folder / "data")
    config = folder / "nothing.yml"
    config.write_text("scrape_configs: []\n")
    start, end = scrapes[0][0], scrapes[-1][0]
    known, turn = None, 0
    while True:
        with PrometheusServer(config, folder / "data") as prometheus:
            recorded = {name for name in prometheus.get("label/__name__/values") if ":" in name}
            if turn >= GROUPS and recorded == known:
                break
            known = recorded
            promtool("rules", f"--start={math.floor(start)}", f"--end={math.ceil(end) + 1}",
                     f"--url={prometheus.url}", f"--output-dir={folder / f'rules{turn}'}",
                     f"--eval-interval={RULE_INTERVAL}", SHIPPED / "recording_rules.yml")
        for block in (folder / f"rules{turn}").iterdir():
            shutil.move(block, folder / "data")
        turn += 1
    return config, start, end
