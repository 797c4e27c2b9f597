"""Reduces arrays that NumPy wrote through a running server and compares with NumPy.

    session_against_numpy.py REDUCTION TARGET FOLDER [OPTION...]

REDUCTION is the command, OPTIONs are passed to it, FOLDER's .npy files are reduced beside arrays of
each type written to a temporary folder. Integers must be equal, floats within 1e-12 * sum(|x|) of
the float64 result. Prints the command's JSON lines; exit status 1 when one is wrong.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

DTYPES = (np.float32, np.float64, np.int32, np.int64)
LENGTHS = (1, 1000, 4096 * 33 + 7, (1 << 22) + 3)


def make_array(dtype, length, rng):
    """`length` elements of `dtype`: around one for floats, of half the type's width for integers."""
    if np.issubdtype(dtype, np.floating):
        return rng.normal(1.0, 3.0, length).astype(dtype)
    reach = 1 << (np.iinfo(dtype).bits // 2 - 1)
    return rng.integers(-reach, reach, length, dtype=dtype)


def exact_sum(x):
    """Sum of x: a Python float rounded once, or NumPy's wrapping 64-bit integer."""
    if np.issubdtype(x.dtype, np.floating):
        return math.fsum(x.tolist())
    return int(np.sum(x, dtype=np.int64))


def expected(x, y):
    """(operation or statistic, value, tolerance) of arrays of one type."""
    wide = x.astype(np.float64)
    products = x.astype(np.int64) * y if x.dtype.kind == "i" else wide * y.astype(np.float64)
    magnitude = float(np.abs(wide).sum())
    floating = x.dtype.kind == "f"
    yield "sum", exact_sum(x), 1e-12 * magnitude if floating else 0
    yield "max", x.max().item(), 0
    yield "min", x.min().item(), 0
    yield "argmax", int(x.argmax()), 0
    yield "argmin", int(x.argmin()), 0
    yield "mean", exact_sum(x) / x.size, 1e-12 * magnitude / x.size
    variance = float(((wide - wide.mean()) ** 2).mean())
    yield "variance", variance, 1e-10 * variance
    yield "dot", exact_sum(products), 1e-12 * float(np.abs(products).sum()) if floating else 0


def main():
    """Runs the session; returns the exit status."""
    command, target, folder, *options = sys.argv[1:]
    rng = np.random.default_rng(20240229)
    wrong = checked = 0

    def ask(*words):
        line = subprocess.run([command, f"--target={target}", "--json", *options, *map(str, words)],
                              check=True, capture_output=True, text=True).stdout
        print(line, end="", flush=True)
        return json.loads(line)

    with tempfile.TemporaryDirectory() as scratch:
        pairs = []
        for dtype in DTYPES:
            for length in LENGTHS:
                paths = [pathlib.Path(scratch) / f"{np.dtype(dtype)}-{length}-{name}.npy"
                         for name in "xy"]
                for path in paths:
                    np.save(path, make_array(dtype, length, rng))
                pairs.append(paths)
        for path in sorted(pathlib.Path(folder).glob("*.npy")):
            if not np.isnan(np.load(path)).any():
                pairs.append([path, path])
        for x, y in pairs:
            answers = {name: ask(name, x)["value"] for name in ("sum", "max", "min")}
            answers["dot"] = ask("dot", x, y)["value"]
            for name, value in ask("stats", x)["values"].items():
                if answers.setdefault(name, value) != value:
                    print(f"WRONG: {name} of {x.name}: {answers[name]} alone, {value} in stats")
                    wrong += 1
            for name, value, tolerance in expected(np.load(x), np.load(y)):
                checked += 1
                if not abs(answers[name] - value) <= tolerance:
                    print(f"WRONG: {name} of {x.name}: {answers[name]}, NumPy {value}")
                    wrong += 1
    print(f"{checked} values compared with NumPy {np.__version__}, {wrong} wrong")
    return 1 if wrong or not checked else 0


sys.exit(main())
