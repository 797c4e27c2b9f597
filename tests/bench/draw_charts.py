#!/usr/bin/env python3
"""Draws the charts of docs/PERFORMANCE.md.

    draw_charts.py FOLDER [FILE…]

Reads the JSON lines of `reduction-kernels --json` and torch_sum.py from the files or standard input
and writes ladder.svg (GB/s of each step), sizes.svg (GB/s by length) and segments.svg (GB/s of each
layout of segments) into the folder. A chart whose rows are not there is not drawn. Needs the
standard library only."""

import pathlib
import sys

import bench_rows
from svg_drawing import GRID, INK, MUTED, Drawing

PEAK = "#b3261e"
OURS = "#0b6e4f"
STEP = "#4a7fb5"
YARDSTICK = "#9a9a9a"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# Colour and dashes by the beginning of a row's name.
STYLES = {
    "TWO_PASS": (OURS, ""),
    "ATOMIC": ("#e08a00", ""),
    "CUB": ("#1f4e9c", ""),
    "Thrust": ("#8a4fbf", ""),
    "torch": ("#d1495b", ""),
    "read only": (YARDSTICK, "6 4"),
}


def style(name):
    for start, (color, dash) in STYLES.items():
        if name.startswith(start):
            return color, dash
    return INK, "2 3"


def ticks(highest):
    """Round steps from 0 to at least `highest`, about five of them."""
    step = next(s * 10**e for e in range(-3, 9) for s in (1, 2, 5) if highest / (s * 10**e) <= 5)
    count = int(-(-highest // step))
    return [step * i for i in range(count + 1)]


def spec_of(device, rows):
    """"NVIDIA H200, float32, 134,217,728 elements": what all rows have in common."""
    parts = [device["row"]] if device else []
    parts += sorted({row["type"] for row in rows})
    counts = {row["elements"] for row in rows}
    if len(counts) == 1:
        parts.append(f"{counts.pop():,} elements")
    return ", ".join(parts)


def draw_bars(title, device, rows, label_of, color_of):
    """A bar a row, from top to bottom; the memory's peak as a line."""
    bar, gap, right, top, width = 20, 10, 90, 100, 960
    left = 40 + 7 * max(len(label_of(row)) for row in rows)  # 7: a character
    height = top + len(rows) * (bar + gap) + 66
    peak = device.get("peak_gigabytes_per_second", 0)
    scale = ticks(max([peak] + [row["gigabytes_per_second"] for row in rows]))
    drawing = Drawing(width, height, title)
    drawing.text(24, 56, spec_of(device, rows), color=MUTED)
    bottom = height - 56

    def x_of(value):
        return left + (width - left - right) * value / scale[-1]

    for value in scale:
        drawing.line(x_of(value), top, x_of(value), bottom, GRID)
        drawing.text(x_of(value), bottom + 20, f"{value:,.0f}", anchor="middle", color=MUTED)
    drawing.text((left + width - right) / 2, height - 14, "memory read, GB/s (higher is better)",
                 anchor="middle")
    for i, row in enumerate(rows):
        y = top + gap / 2 + i * (bar + gap)
        drawing.box(left, y, x_of(row["gigabytes_per_second"]) - left, bar, color_of(row))
        drawing.text(left - 10, y + 15, label_of(row), anchor="end")
    if peak:
        drawing.line(x_of(peak), top - 8, x_of(peak), bottom, PEAK, 2, "7 4")
        drawing.text(x_of(peak), top - 14, f"peak {peak:,.0f} GB/s", anchor="middle", color=PEAK)
    # Values last, on grounds of their own: the peak's line may run behind them.
    for i, row in enumerate(rows):
        y = top + gap / 2 + i * (bar + gap)
        words = f"{row['gigabytes_per_second']:,.0f}"
        x = x_of(row["gigabytes_per_second"]) + 5
        drawing.box(x - 2, y + 1, 8 * len(words) + 4, bar - 2, "#ffffff")
        drawing.text(x, y + 15, words)
    return drawing


def draw_ladder(device, rows):
    def color_of(row):
        if row["row"] in ("TWO_PASS", "ATOMIC"):
            return OURS
        return YARDSTICK if row["row"].startswith(tuple(STYLES)) else STEP

    return draw_bars("The ladder: speed of each step", device, rows, lambda row: row["row"],
                     color_of)


def draw_segments(device, rows):
    def color_of(row):
        return OURS if row["row"].startswith("segments") else YARDSTICK

    return draw_bars("Segments: speed by layout", device, rows,
                     lambda row: f"{row['setting']}: {row['row']}", color_of)


def draw_sizes(device, rows):
    """A line a row name over log2 of the elements; the legend stands where small arrays leave
    room."""
    width, height, left, right, top, bottom = 960, 560, 90, 30, 84, 490
    names = list(dict.fromkeys(row["row"] for row in rows))
    powers = {row["elements"].bit_length() - 1 for row in rows}
    first, last = min(powers), max(powers)
    peak = device.get("peak_gigabytes_per_second", 0)
    scale = ticks(max([peak] + [row["gigabytes_per_second"] for row in rows]))
    drawing = Drawing(width, height, "Sum by length of the array")
    drawing.text(24, 56, spec_of(device, rows) + ", cold slices", color=MUTED)

    def x_of(elements):
        return left + (width - left - right) * (elements.bit_length() - 1 - first) / max(
            1, last - first)

    def y_of(value):
        return bottom - (bottom - top) * value / scale[-1]

    for value in scale:
        drawing.line(left, y_of(value), width - right, y_of(value), GRID)
        drawing.text(left - 10, y_of(value) + 5, f"{value:,.0f}", anchor="end", color=MUTED)
    for power in range(first, last + 1, 2):
        x = x_of(1 << power)
        drawing.line(x, bottom, x, bottom + 5, MUTED)
        drawing.text(x, bottom + 24, "2" + str(power).translate(SUPERSCRIPTS), anchor="middle",
                     color=MUTED)
    drawing.text((left + width - right) / 2, height - 14, "elements", anchor="middle")
    drawing.text(26, (top + bottom) / 2, "memory read, GB/s (higher is better)", anchor="middle",
                 turn=-90)
    if peak:
        drawing.line(left, y_of(peak), width - right, y_of(peak), PEAK, 2, "7 4")
        drawing.text(left + 8, y_of(peak) - 7, f"peak {peak:,.0f} GB/s", color=PEAK)
    for i, name in enumerate(names):
        color, dash = style(name)
        points = sorted((x_of(row["elements"]), y_of(row["gigabytes_per_second"]))
                        for row in rows if row["row"] == name)
        drawing.path(points, color, 2, dash)
        for x, y in points:
            drawing.dot(x, y, color)
        y = y_of(peak or scale[-1]) + 32 + 24 * i
        drawing.line(left + 16, y - 5, left + 50, y - 5, color, 3, dash)
        drawing.text(left + 60, y, name)
    return drawing


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    device, groups = bench_rows.load(sys.argv[2:])
    for group, draw in (("ladder", draw_ladder), ("sizes", draw_sizes),
                        ("segments", draw_segments)):
        if group not in groups:
            continue
        path = folder / f"{group}.svg"
        path.write_text(str(draw(device, groups[group])), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
