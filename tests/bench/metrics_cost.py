"""Starts a server and compares the time of a tiny call with that of its metrics.

Usage: metrics_cost.py PROGRAMS, the folder that has reduction-server and metrics-cost. Prints the
median of interleaved repetitions, and ends with status 1 when metrics take a hundredth or more.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from server_process import ServerProcess  # noqa: E402

REPETITIONS = 15
LIMIT = 0.01


def nanoseconds(report, name):
    """The median of a row. A call's is the time until its answer. Metrics' is processor time, so
    that other programs on the machine do not count."""
    times = [row["real_time" if name.startswith("TinyCall") else "cpu_time"]
             for row in report["benchmarks"]
             if row["name"] == name and row["run_type"] == "iteration"]
    if not times:
        raise SystemExit(f"error: no row {name}")
    return statistics.median(times)


def main(programs):
    with ServerProcess([programs / "reduction-server", "--listen=127.0.0.1:0",
                        "--metrics=127.0.0.1:0", "--device=cpu"]) as server:
        done = subprocess.run(
            [programs / "metrics-cost", "--benchmark_format=json", "--benchmark_min_time=0.2",
             f"--benchmark_repetitions={REPETITIONS}",
             "--benchmark_enable_random_interleaving=true"],
            env=os.environ | {"REDUCTION_TARGET": server.listen[0]}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, check=True)
        server.stop()
    report = json.loads(done.stdout)
    if any(row.get("error_occurred") for row in report["benchmarks"]):
        raise SystemExit("error: a call failed")
    call = nanoseconds(report, "TinyCall/real_time")
    print(f"a call that sums four numbers: {call / 1000:.1f} us")
    for threads in (1, 2):
        cost = nanoseconds(report, f"MetricsOfATinyCall/threads:{threads}")
        print(f"its metrics, {threads} thread(s) counting: {cost:.0f} ns, {cost / call:.2%}")
        if cost / call >= LIMIT:
            raise SystemExit(f"error: metrics take {LIMIT:.0%} of a tiny call or more")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
