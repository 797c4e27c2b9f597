"""Rewrites the measurements of this folder from the packages that ship them.

python3-scipy 1.10 (Debian 12) has ecg.dat; statsmodels (PyPI) has co2.csv:
    make_measurements.py .../scipy/misc/ecg.dat .../statsmodels/datasets/co2/co2.csv
"""

import csv
import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).parent
ecg = np.load(sys.argv[1])["ecg"].astype(int)  # readings of an 11-bit converter
np.save(here / "ecg.npy", (ecg - 1024) / 200.0)  # millivolts: 200 steps each, zero at 1024
with open(sys.argv[2], newline="") as table:
    weeks = [row["co2"] for row in csv.DictReader(table)]
np.save(here / "co2.npy", np.array([float(week or "nan") for week in weeks]))
