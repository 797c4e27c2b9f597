#!/usr/bin/env bash
# Runs on a GPU machine, from the bundle that `make gpu-bundle` packed:
#   gpu-session.sh [SECTION…]      all sections without arguments
#   session   sum, max, min, dot and stats through a server on the GPU, against NumPy
#   tests     the GPU tests
#   sanitize  memcheck, racecheck, initcheck and synccheck over the GPU tests, arrays up to 2^20
#             elements; the slow tools over a sample of the cases
#   ptx       the tests of whole arrays and of segments with kernels compiled by the driver from PTX,
#             as on GPUs without code of their own in the build
#   bench     the kernel benchmark, and torch.sum where PyTorch is there: tables, bench.json, charts
#   dashboard a mixed load, and the server's metrics meanwhile, for tests/deploy/draw_dashboard.py
#             (DASHBOARD_SECONDS)
#   file4     `reduction sum` of an 8 GiB file over four connections, three runs (FILE_GIB)
#   stream16  16 GiB from standard input over one connection, and the server's memory (STREAM_GIB)
# Needs python3 with numpy, nvidia-smi and, for sanitize, compute-sanitizer. Logs go to ${OUT:-.}.
# Prints PASS, FAIL or, where compute-sanitizer does not support the machine, REFUSED for each
# section; exit status 1 when one fails.
set -uo pipefail
exec </dev/null
bundle=$(cd "$(dirname "$0")" && pwd)
[ -d "$bundle/bin" ] || bundle=$bundle/../build/gpu-bundle
bin=$bundle/bin
transport=$bundle/transport_bench.sh
out=${OUT:-.}
mkdir -p "$out"
. "$bundle/server_functions.sh" || exit 2

failures=0
server=''

gpu_server() {
  start_server "$bin/reduction-server" --device=cuda "$@" 2>>"$out/server.log"
}

end_server() {
  local status=0
  stop_server || status=$?
  server=''
  [ "$status" -eq 0 ] || echo "the server ended with status $status"
  return "$status"
}

section_session() {
  gpu_server || return 1
  local status=0
  python3 "$bundle/session_against_numpy.py" "$bin/reduction" "$listen" "$bundle/data" \
    --device=cuda || status=1
  get_metrics | grep '^reduction_bytes_total.*cuda.* [1-9]' || status=1
  end_server || status=1
  return "$status"
}

# Tests that find no device skip themselves: that is no pass here.
ran() {
  grep -E '^\[  PASSED  \] [1-9]' "$1" && ! grep -q 'no CUDA device' "$1" && return
  tail -n 3 "$1"
  return 1
}

section_tests() {
  local status=0
  "$bin/reduction_gpu_tests" --gtest_brief=1 >"$out/gpu_tests.log" 2>&1 || status=1
  [ "$status" -eq 0 ] || cat "$out/gpu_tests.log"
  ran "$out/gpu_tests.log" || status=1
  return "$status"
}

# sanitized TOOL SHARD LOG: a quarter of the tests under the tool. Those that slow the kernels most
# take a sample of each test's cases.
sanitized() {
  local every=1
  case $1 in
    racecheck) every=17 ;;
    initcheck | synccheck) every=5 ;;
  esac
  GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=$2 REDUCTION_TEST_MAX_ELEMENTS=1048576 \
    REDUCTION_TEST_SAMPLE=$every REDUCTION_TEST_DRAWS=120 \
    compute-sanitizer --tool "$1" --report-api-errors no --error-exitcode 86 \
    "$bin/reduction_gpu_tests" --gtest_brief=1 >"$3" 2>&1
}

section_sanitize() {
  local tool shard log runs status=0
  if ! command -v compute-sanitizer >/dev/null; then
    echo "compute-sanitizer not found; put the CUDA Toolkit's bin folder on PATH"
    return 1
  fi
  for tool in memcheck racecheck initcheck synccheck; do
    runs=()
    for shard in 0 1 2 3; do
      sanitized "$tool" "$shard" "$out/$tool.$shard.log" &
      runs+=($!)
    done
    for shard in 0 1 2 3; do
      log=$out/$tool.$shard.log
      if wait "${runs[$shard]}"; then
        echo "$tool: $(grep -m 1 'SUMMARY' "$log")"
        ran "$log" || status=1
        grep -qE 'SUMMARY: 0 (errors|hazards)' "$log" || status=1
      elif grep -qiE 'not supported|unsupported|permission' "$log"; then
        grep -iE -m 3 'not supported|unsupported|permission' "$log"
        [ "$status" -eq 1 ] || status=3
      else
        grep -E 'SUMMARY|FAILED' "$log" || tail -n 20 "$log"
        status=1
      fi
      cat "$log" >>"$out/$tool.log"
      rm "$log"
    done
  done
  return "$status"
}

# A process a type: compiling takes a minute, on one core.
section_ptx() {
  local type status=0
  local types=(float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64)
  for type in "${types[@]}"; do
    CUDA_FORCE_PTX_JIT=1 CUDA_CACHE_DISABLE=1 REDUCTION_TEST_MAX_ELEMENTS=1048576 \
      REDUCTION_TEST_SAMPLE=5 "$bin/reduction_gpu_tests" --gtest_brief=1 \
      --gtest_filter="*DeviceReduce*/$type:*AtomicReduce*/$type:*Segments*/$type" \
      >"$out/ptx.$type.log" 2>&1 &
  done
  wait
  for type in "${types[@]}"; do
    echo "$type: $(ran "$out/ptx.$type.log")" || status=1
    cat "$out/ptx.$type.log" >>"$out/ptx.log"
    rm "$out/ptx.$type.log"
  done
  ! grep -q '  FAILED  ' "$out/ptx.log" || status=1
  return "$status"
}

section_bench() {
  local status=0
  "$bin/reduction-kernels" --json >"$out/bench.json" || status=1
  python3 "$bundle/torch_sum.py" >"$out/torch.json" || status=1
  cat "$out/torch.json" >>"$out/bench.json"
  rm "$out/torch.json"
  python3 "$bundle/make_tables.py" "$out/bench.json" || status=1
  python3 "$bundle/draw_charts.py" "$out" "$out/bench.json" || status=1
  return "$status"
}

# Tiny calls all the time; in turns large streams, dot products, segments and calls that fail.
section_dashboard() {
  local seconds=${DASHBOARD_SECONDS:-120} status=0 loads=() load
  gpu_server || return 1
  python3 "$bundle/record_metrics.py" "$metrics" "$out/metrics.json.gz" "$((seconds + 5))" &
  local recorder=$!
  bench() { "$bin/reduction" --target="$listen" "$@"; }
  bench bench --op=mixed --size=16KiB --concurrency=4 --duration="$seconds" &
  loads+=($!)
  {
    bench bench --op=sum --size=512MiB --connections=4 --duration="$((seconds / 4))" &&
      bench bench --op=dot --size=256MiB --dtype=float64 --concurrency=4 \
        --duration="$((seconds / 4))" &&
      bench bench --op=stats --size=1GiB --connections=2 --duration="$((seconds / 4))" &&
      bench bench --op=sum --size=64MiB --segment-length=1024 --concurrency=2 \
        --duration="$((seconds / 4))"
  } &
  loads+=($!)
  # Refused: the server has no such device.
  bench bench --device=cuda:9 --rate=2 --duration="$((seconds / 2))" >/dev/null 2>&1 || true
  for load in "${loads[@]}"; do wait "$load" || status=1; done
  wait "$recorder" || status=1
  end_server || status=1
  return "$status"
}

# The transport benchmarks, with a server on the GPU.
section_file4() { DEVICE=cuda PROGRAMS=$bin OUT=$out bash "$transport" file4; }
section_stream16() { DEVICE=cuda PROGRAMS=$bin OUT=$out bash "$transport" stream16; }

# In a subshell: a server that the section left is killed with it.
run_section() {
  trap '[ -z "$server" ] || kill -KILL "$server"' EXIT
  "section_$1"
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
[ $# -gt 0 ] || set -- session tests sanitize ptx bench dashboard file4 stream16
for section in "$@"; do
  if ! declare -F "section_$section" >/dev/null; then
    echo "error: no section $section; they are named at the top of $0" >&2
    exit 2
  fi
done
for section in "$@"; do
  echo "==> $section"
  start=$SECONDS
  run_section "$section" 2>&1 | tee "$out/$section.log"
  status=${PIPESTATUS[0]}
  case $status in
    0) verdict=PASS ;;
    3) verdict=REFUSED ;;
    *) verdict=FAIL; failures=$((failures + 1)) ;;
  esac
  echo "$verdict $section ($((SECONDS - start)) s)"
done
[ "$failures" -eq 0 ]
