"""Draws the dashboard's panels into one PNG, from the data of a Prometheus or of a recording.

    draw_dashboard.py --prometheus=URL [--minutes=5] OUTPUT.png
    draw_dashboard.py --recording=FILE [--instance=NAME] OUTPUT.png

A recording comes from record_metrics.py; a Prometheus is started here to evaluate it. Run it with
the Python of `make venv-deploy` and PYTHONPATH=tests.
"""

import argparse
import contextlib
import datetime
import math
import tempfile
import time

import matplotlib
matplotlib.use("agg")
import matplotlib.dates
import matplotlib.pyplot as plt
from matplotlib.ticker import (FuncFormatter, LogLocator, MaxNLocator, MultipleLocator,
                               NullFormatter)

import dashboard
from metrics_recording import build_database
from prometheus_server import PrometheusApi, PrometheusServer

COLUMNS = 24
INCHES_A_COLUMN = 0.75
INCHES_A_ROW = 0.4
TITLE_INCHES = 0.5
# Inches around a panel: for its title, for times and legend, for the scale, to the next panel.
MARGINS = 0.4, 0.85, 0.8, 0.15
STEPS = 300
MOST_IN_LEGEND = 8
SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))
BINARY = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"), (1, ""))
TIME = ((1, ""), (1e-3, "m"), (1e-6, "µ"))


def scaled(value, steps, unit):
    """A number with the largest prefix that leaves at least 1 of it."""
    size, prefix = next((step for step in steps if abs(value) >= step[0] * (1 - 1e-9)), steps[-1])
    if value == 0:
        size, prefix = 1, ""
    return f"{value / size:.4g} {prefix}{unit}".strip()


# Grafana's names of units.
UNITS = {
    "Bps": lambda value: scaled(value, SI, "B/s"),
    "bytes": lambda value: scaled(value, BINARY, "B"),
    "s": lambda value: scaled(value, TIME, "s"),
    "percentunit": lambda value: f"{value * 100:.4g}%",
    "reqps": lambda value: scaled(value, SI, "calls/s"),
    "short": lambda value: scaled(value, SI, ""),
    "watt": lambda value: scaled(value, SI, "W"),
    "none": lambda value: f"{value:g}",
}


def utc(moment):
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc)


def series_of(panel, prometheus, start, end, step):
    """[(legend, times, values)] of a panel; where a sample is missing the value is NaN."""
    found = []
    count = int((end - start) / step) + 1
    for expression, template in dashboard.expressions(panel):
        for labels, times, values in prometheus.query_range(expression, start, end, step):
            at = {round((moment - start) / step): value for moment, value in zip(times, values)}
            found.append((dashboard.legend(template, labels),
                          [start + step * turn for turn in range(count)],
                          [at.get(turn, math.nan) for turn in range(count)]))
    return found


def dashed(panel, legend):
    """Whether the panel's overrides draw this series as a dashed line."""
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["options"].strip("/").rstrip("$") in legend:
            return True
    return False


def draw_series(axes, panel, found):
    custom = panel["fieldConfig"]["defaults"]["custom"]
    dates = [utc(moment) for moment in found[0][1]]
    if "stacking" in custom:
        values = [[0 if math.isnan(value) else value for value in series[2]] for series in found]
        axes.stackplot(dates, values, labels=[series[0] for series in found], alpha=0.7)
        return
    for legend, _, values in found:
        style = "--" if dashed(panel, legend) else "-"
        axes.plot(dates, values, style, linewidth=1.3, label=legend)


def draw_scale(axes, panel):
    defaults = panel["fieldConfig"]["defaults"]
    if "scaleDistribution" in defaults["custom"]:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.set_ylim(10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high)))
        axes.yaxis.set_major_locator(LogLocator(numticks=8))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        high = defaults.get("max", axes.get_ylim()[1] if axes.dataLim.y1 > 0 else 1)
        axes.set_ylim(defaults.get("min"), high)
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=defaults.get("decimals") == 0))
        if defaults["unit"] == "bytes":
            axes.yaxis.set_major_locator(MultipleLocator(2 ** math.ceil(math.log2(high / 5))))
    unit = UNITS[defaults["unit"]]
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: unit(value)))


def draw_panel(axes, panel, found, start, end):
    axes.set_title(panel["title"], fontsize=10, loc="left", fontweight="bold")
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=8)
    axes.set_xlim(utc(start), utc(end))
    ticks = 1 + panel["gridPos"]["w"] // 2
    axes.xaxis.set_major_locator(matplotlib.dates.AutoDateLocator(minticks=2, maxticks=ticks))
    axes.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%H:%M:%S"))
    if not found:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", color="gray")
        return
    draw_series(axes, panel, found)
    draw_scale(axes, panel)
    handles, labels = axes.get_legend_handles_labels()
    more = len(labels) - MOST_IN_LEGEND
    if more > 0:
        labels[MOST_IN_LEGEND - 1] = f"and {more + 1} more"
    axes.legend(handles[:MOST_IN_LEGEND], labels[:MOST_IN_LEGEND], fontsize=7, frameon=False,
                loc="upper left", bbox_to_anchor=(0, -0.13), ncols=2, borderaxespad=0)


def draw(prometheus, start, end, output):
    """Returns the titles of panels without data."""
    shown = dashboard.load()
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in shown["panels"])
    width, height = COLUMNS * INCHES_A_COLUMN, rows * INCHES_A_ROW + TITLE_INCHES
    figure = plt.figure(figsize=(width, height))
    figure.suptitle(f"{shown['title']}: {utc(start):%Y-%m-%d %H:%M} to {utc(end):%H:%M} UTC",
                    fontsize=13, y=1 - 0.15 / height)
    step = max(1, round((end - start) / STEPS))
    empty = []
    for panel in shown["panels"]:
        x, y, w, h = (panel["gridPos"][key] for key in "xywh")
        left, top = x * INCHES_A_COLUMN, height - TITLE_INCHES - y * INCHES_A_ROW
        if panel["type"] == "row":
            figure.text(0.2 / width, (top - 0.25) / height, panel["title"], fontsize=13)
            continue
        w, h = w * INCHES_A_COLUMN, h * INCHES_A_ROW
        above, below, before, after = MARGINS
        axes = figure.add_axes(((left + before) / width, (top - h + below) / height,
                                (w - before - after) / width, (h - above - below) / height))
        found = series_of(panel, prometheus, start, end, step)
        draw_panel(axes, panel, found, start, end)
        if not found:
            empty.append(panel["title"])
    figure.savefig(output, dpi=100)
    return empty


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--prometheus", metavar="URL")
    source.add_argument("--recording", metavar="FILE")
    parser.add_argument("--minutes", type=float, default=5, help="of a Prometheus, until now")
    parser.add_argument("--instance", default="reduction-server:9464", help="of a recording")
    parser.add_argument("output")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if arguments.prometheus:
            prometheus = PrometheusApi(arguments.prometheus)
            end = time.time()
            start = end - 60 * arguments.minutes
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            config, start, end = build_database(arguments.recording, folder, arguments.instance)
            prometheus = stack.enter_context(PrometheusServer(config, f"{folder}/data"))
        empty = draw(prometheus, start, end, arguments.output)
    print(f"without data: {', '.join(empty) or 'nothing'}")


if __name__ == "__main__":
    main()
