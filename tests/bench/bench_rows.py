"""Rows of the kernel benchmark: the JSON lines of `reduction-kernels --json` and torch_sum.py."""

import fileinput
import json


def load(paths):
    """The rows of the files, of standard input where there are none, as dicts in their order.

    Returns (device, groups): the row of group "device" or {}, and a dict from the name of each
    other group to its rows."""
    device = {}
    groups = {}
    with fileinput.input(paths, encoding="utf-8") as lines:
        for line in lines:
            if not line.strip():
                continue
            row = json.loads(line)
            if row["group"] == "device":
                device = row
            else:
                groups.setdefault(row["group"], []).append(row)
    return device, groups


def of_elements(count):
    """"2^20" for powers of two from 2^10 on, else digits in groups of three."""
    power = count.bit_length() - 1
    return f"2^{power}" if power >= 10 and count == 1 << power else f"{count:,}"
