#!/usr/bin/env bash
# Runs every benchmark that was built, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
benchmarks=(build/release/bin/*[-_]bench)
if [ ${#benchmarks[@]} -eq 0 ]; then
  echo "error: no benchmark in build/release/bin; make build first" >&2
  exit 1
fi
for benchmark in "${benchmarks[@]}"; do
  echo "==> $benchmark"
  "$benchmark"
done
