"""Sizes and times as Docker, Kubernetes, nginx and our options spell them."""

import re

UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def byte_count(text):
    """Of 2GiB, 2Gi, 6g or 1024: the number of bytes."""
    number, unit = re.fullmatch(r"(\d+)([kmg]?)(?:ib?|b)?", text.lower()).groups()
    return int(number) * UNITS[unit]


def seconds(text):
    """Of 30s: 30, of 2m: 120."""
    number, unit = re.fullmatch(r"(\d+)([sm])", text).groups()
    return int(number) * {"s": 1, "m": 60}[unit]
