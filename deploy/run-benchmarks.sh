#!/usr/bin/env bash
# Runs every benchmark that was built, one after the other; those of the GPU where there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
benchmarks=(build/release/bin/*[-_]bench)
if [ ${#benchmarks[@]} -eq 0 ]; then
  echo "error: no benchmark in build/release/bin; make build first" >&2
  exit 1
fi
for benchmark in "${benchmarks[@]}"; do
  if [[ $benchmark == */reduction-kernel-bench ]] && ! nvidia-smi >/dev/null 2>&1; then
    echo "==> $benchmark needs a GPU: not run"
    continue
  fi
  echo "==> $benchmark"
  "$benchmark"
done

echo "==> transport (FILE_GIB and STREAM_GIB choose the sizes)"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
OUT=$log bash tests/bench/transport_bench.sh
