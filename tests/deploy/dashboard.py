"""The shipped dashboard, read as Grafana would read it. Needs the standard library alone."""

import json
import pathlib
import re

FILE = (pathlib.Path(__file__).resolve().parents[2] /
        "deploy/grafana/dashboards/reduction.json")
GPU_EXPORTER_PREFIX = "DCGM_"


def load():
    return json.loads(FILE.read_text())


def panels(dashboard):
    """All panels that show data, in the order in which one reads them."""
    shown = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    return sorted(shown, key=lambda panel: (panel["gridPos"]["y"], panel["gridPos"]["x"]))


def expressions(panel, instance=".*", device=".*", rate_interval="1m"):
    """[(expression, legend)] of a panel, with values in place of the dashboard's variables."""
    values = {"instance": instance, "device": device, "__rate_interval": rate_interval}

    def value(match):
        return values[match[1]]
    return [(re.sub(r"\$(\w+)", value, target["expr"]), target["legendFormat"])
            for target in panel["targets"]]


def legend(template, labels):
    """The legend of a series with these labels."""
    return re.sub(r"{{\s*(\w+)\s*}}", lambda match: labels.get(match[1], ""), template).strip()
