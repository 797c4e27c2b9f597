#!/usr/bin/env python3
"""Times torch.sum as reduction-kernels times its rows, and prints rows of the same JSON form.

    torch_sum.py

float32 sums of 2^10 to 2^30 elements over cold slices of 4 GiB (group "sizes"), then of 4,194,304
elements of one array with 10 warm-ups and 50 runs (group "series"). Every sum is checked against the
exact one first; exit status 1 where one is wrong. Where PyTorch or a GPU is missing, it says so in
one line on standard error and ends with status 0."""

import json
import statistics
import sys

try:
    import torch
except ImportError as error:
    print(f"torch.sum: not measured: {error}", file=sys.stderr)
    sys.exit(0)
if not torch.cuda.is_available():
    print(f"torch.sum: not measured: PyTorch {torch.__version__} finds no GPU", file=sys.stderr)
    sys.exit(0)

TOTAL = 1 << 30
CHUNK = 1 << 26
UNIT = 2.0**-23
# Holds the stream back while launches are enqueued, as the gate of reduction-kernels does; in
# clocks of the device: a few milliseconds.
HOLD_CLOCKS = 8_000_000
wrong = 0


def fill():
    """Integers times 2^-23, off the middle of 0: float64 sums of any order are exact."""
    torch.manual_seed(1)
    data = torch.empty(TOTAL, dtype=torch.float32, device="cuda")
    for first in range(0, TOTAL, CHUNK):
        integers = torch.randint(-(1 << 21), 3 << 21, (CHUNK,), dtype=torch.int32, device="cuda")
        data[first:first + CHUNK] = integers.float() * UNIT
    return data


def exact(data, function):
    return sum(function(data[i:i + CHUNK].double()).sum().item()
               for i in range(0, data.numel(), CHUNK))


def check(data):
    """As reduction-kernels checks float32 sums: see ErrorBound of kernels/ladder/ladder.h."""
    global wrong
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
    additions = data.numel() // (2048 * multiprocessors) + 8 * multiprocessors + 64
    bound = additions * 2.0**-24 / (1 - additions * 2.0**-24) * exact(data, torch.abs)
    got, want = torch.sum(data).item(), exact(data, lambda x: x)
    if not abs(got - want) <= bound:
        wrong += 1
        print(f"WRONG torch.sum of {data.numel()}: {got} instead of {want}", file=sys.stderr)


def milliseconds_of(slices, batch):
    """Of one of `batch` launches, each over the next of the slices."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(HOLD_CLOCKS)
    begin.record()
    for _ in range(batch):
        torch.sum(next(slices))
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / batch


def cold_slices(data, count):
    slots = min(max(TOTAL // count, 1), 32768)
    spacing = TOTAL // slots // 4096 * 4096
    at = 0
    while True:
        yield data[at * spacing:at * spacing + count]
        at = (at + 1) % slots


def peak():
    """GB/s of the device's memory; None where this PyTorch does not tell."""
    properties = torch.cuda.get_device_properties(0)
    clock = getattr(properties, "memory_clock_rate", None)
    width = getattr(properties, "memory_bus_width", None)
    return 2 * clock * width / 8 / 1e6 if clock and width else None


def report(group, count, times, batch):
    times = sorted(times)
    median = statistics.median_low(times)
    quartiles = [times[(len(times) - 1) * i // 4] for i in (1, 3)]
    speed = count * 4 / median / 1e6
    row = {"group": group, "row": "torch.sum", "type": "float32", "elements": count,
           "milliseconds": median, "spread": (quartiles[1] - quartiles[0]) / median,
           "runs": len(times), "batch": batch, "gigabytes_per_second": speed}
    if peak():
        row["share_of_peak"] = speed / peak()
    print(json.dumps(row), flush=True)


def measure(group, count, slices, warm_ups, runs, batch):
    times = [milliseconds_of(slices, batch) for _ in range(warm_ups + runs)]
    report(group, count, times[warm_ups:], batch)


def main():
    data = fill()
    for power in range(10, 31):
        count = 1 << power
        check(data[:count])
        measure("sizes", count, cold_slices(data, count), 2, 21 if power > 26 else 51,
                16 if power < 20 else 1)
    series = data[:4 << 20]

    def again():
        while True:
            yield series

    measure("series", series.numel(), again(), 10, 50, 1)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
