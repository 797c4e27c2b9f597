#!/usr/bin/env python3
"""Prints the Markdown tables of docs/PERFORMANCE.md.

    make_tables.py [FILE…]

The files, or standard input, hold the JSON lines of `reduction-kernels --json` and torch_sum.py."""

import sys

import bench_rows

TITLES = {
    "sizes": "float32 sum by length",
    "ladder": "The ladder",
    "series": "The five-kernel series",
    "handbook": "The handbook's three",
    "sets": "Statistics and sets",
    "types": "Every element type",
    "segments": "Segments",
    "cpu": "The CPU backend",
    "stages": "Stages of a reduction of host memory",
}
NOTHING = "–"


def number(value, form, scale=1.0):
    return NOTHING if value is None else format(value * scale, form)


def speed(row):
    value = row.get("gigabytes_per_second")
    return number(value, ".0f" if value is None or value >= 10 else ".2f")


def milliseconds(row):
    return format(row["milliseconds"], ".3f" if row["milliseconds"] >= 1 else ".4f")


COLUMNS = {
    "ms": milliseconds,
    "spread": lambda row: number(row.get("spread"), ".1%"),
    "GB/s": speed,
    "of peak": lambda row: number(row.get("share_of_peak"), ".1%"),
    "× CUB": lambda row: number(row.get("ratio_to_cub"), ".3f"),
    "× flat": lambda row: number(row.get("ratio_to_flat"), ".3f"),
    "× read-only": lambda row: number(row.get("ratio_to_read_only"), ".3f"),
}


def print_table(head, lines, text_columns=1):
    """The first text_columns columns are text, the others numbers."""
    print("| " + " | ".join(head) + " |")
    print("|" + "|".join("---" if i < text_columns else "---:" for i in range(len(head))) + "|")
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def distinct(rows, key):
    return list(dict.fromkeys(row[key] for row in rows))


def print_sizes(rows):
    """A line a length; the time of every row, and how TWO_PASS and ATOMIC compare."""
    names = distinct(rows, "row")
    compared = [(name, column) for name in ("TWO_PASS", "ATOMIC") if name in names
                for column in ("GB/s", "of peak", "× CUB", "× read-only", "spread")
                if name == "TWO_PASS" or column.startswith("×")]
    head = (["elements"] + [f"{name}, µs" for name in names] +
            [f"{name} {column}" for name, column in compared])
    lines = []
    for elements in sorted(distinct(rows, "elements")):
        here = {row["row"]: row for row in rows if row["elements"] == elements}
        line = [bench_rows.of_elements(elements)]
        for name in names:
            line.append(number(here[name]["milliseconds"], ".1f", 1e3) if name in here
                        else NOTHING)
        for name, column in compared:
            line.append(COLUMNS[column](here[name]) if name in here else NOTHING)
        lines.append(line)
    print_table(head, lines)


def print_types(rows):
    """A line a type; speeds with ratios to the read-only kernel."""
    names = distinct(rows, "row")
    lines = []
    for element_type in distinct(rows, "type"):
        here = {row["row"]: row for row in rows if row["type"] == element_type}
        line = [element_type]
        for name in names:
            if name not in here:
                line.append(NOTHING)
            elif name == "read only":
                line.append(speed(here[name]))
            else:
                line.append(f"{speed(here[name])} ({COLUMNS['× read-only'](here[name])})")
        lines.append(line)
    print("GB/s, and in parentheses the ratio to the read-only kernel of the same run.\n")
    print_table(["type"] + names, lines)


def print_segments(rows):
    """A line a layout and row of ours, beside CUB and the sum of the same elements as one array."""
    yardsticks = {"flat sum": "flat sum", "CUB segmented sum": "CUB", "read only": "read only"}
    ours = [name for name in distinct(rows, "row") if name not in yardsticks]
    compared = ("spread", "of peak", "× flat", "× CUB", "× read-only")
    lines = []
    for setting in distinct(rows, "setting"):
        here = {row["row"]: row for row in rows if row["setting"] == setting}
        for name in ours:
            if name in here:
                row = here[name]
                lines.append([setting, name, bench_rows.of_elements(row["elements"]),
                              milliseconds(row), speed(row)] +
                             [speed(here[other]) if other in here else NOTHING
                              for other in yardsticks] +
                             [COLUMNS[column](row) for column in compared])
    head = (["layout", "row", "elements", "ms", "GB/s"] +
            [f"{title}, GB/s" for title in yardsticks.values()] + list(compared))
    print_table(head, lines, 2)


def print_cpu(rows):
    """A line a number of threads and row."""
    columns = {"ms": milliseconds, "spread": COLUMNS["spread"], "GB/s": speed,
               "× scan, same threads": COLUMNS["× read-only"]}
    print(f"{rows[0]['type']}, {rows[0]['elements']:,} elements in host memory.\n")
    print_table(["processor", "row"] + list(columns),
                [[row["setting"], row["row"]] + [cell(row) for cell in columns.values()]
                 for row in rows], 2)


def print_rows(rows):
    """A line a row; type and elements above the table where they are the same in all."""
    labels = {"row": lambda row: row["row"]}
    common = []
    types = distinct(rows, "type")
    if len(types) == 1:
        common.append(types[0])
    else:
        labels["type"] = lambda row: row["type"]
    counts = distinct(rows, "elements")
    if len(counts) == 1:
        common.append(f"{counts[0]:,} elements")
    else:
        labels["elements"] = lambda row: bench_rows.of_elements(row["elements"])
    if common:
        print(", ".join(common) + ".\n")
    columns = {name: cell for name, cell in COLUMNS.items()
               if any(cell(row) != NOTHING for row in rows)}
    print_table(list(labels) + list(columns),
                [[cell(row) for cell in (*labels.values(), *columns.values())] for row in rows],
                len(labels))


PRINTERS = {"sizes": print_sizes, "types": print_types, "segments": print_segments,
            "cpu": print_cpu}


def main():
    device, groups = bench_rows.load(sys.argv[1:])
    if device:
        print(f"{device['row']}: {device['multiprocessors']} multiprocessors, memory "
              f"{device['peak_gigabytes_per_second']:,.0f} GB/s.\n")
    for group, rows in groups.items():
        print(f"### {TITLES.get(group, group)}\n")
        PRINTERS.get(group, print_rows)(rows)


if __name__ == "__main__":
    main()
