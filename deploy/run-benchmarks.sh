#!/usr/bin/env bash
# Runs the benchmarks that were built, one after the other. Without a GPU reduction-kernels runs its
# rows of the CPU.
set -euo pipefail
cd "$(dirname "$0")/.."
programs=build/release/bin
if [ ! -x "$programs/reduction-server" ]; then
  echo "error: no programs in $programs; make build first" >&2
  exit 1
fi

if [ ! -x "$programs/reduction-kernels" ]; then
  echo "==> reduction-kernels was not built: it needs the CUDA Toolkit"
else
  echo "==> reduction-kernels"
  "$programs/reduction-kernels"
fi

echo "==> metrics of a tiny call"
python3 tests/bench/metrics_cost.py "$programs"

echo "==> transport (FILE_GIB and STREAM_GIB choose the sizes)"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
OUT=$log bash tests/bench/transport_bench.sh
