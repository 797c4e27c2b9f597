#!/usr/bin/env bash
# Runs on a GPU machine, from the bundle that `make gpu-bundle` packed:
#   gpu-session.sh [SECTION…]      all sections without arguments
#   session   sum, max, min, dot and stats through a server on the GPU, against NumPy
#   tests     the GPU tests
#   sanitize  memcheck and racecheck over the GPU tests, arrays up to 2^20 elements
#   bench     the kernel benchmark
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

# A folder with room for $1 GiB, in memory where possible.
roomy_folder() {
  local folder
  for folder in /dev/shm "${TMPDIR:-/tmp}"; do
    if [ "$(df --output=avail -B1G "$folder" | tail -n 1)" -gt "$1" ]; then
      echo "$folder"
      return
    fi
  done
  echo "no folder has room for $1 GiB" >&2
  return 1
}

# Writes $1 GiB of float32 to standard output: 0, 1, … 1023, again and again, so that every sum is
# exact; block_sum is that of one MiB.
block_sum=134086656
produce() {
  python3 -c '
import sys
import numpy as np
block = np.tile(np.arange(1024, dtype="<f4"), 1024 * 16).tobytes()
for _ in range(int(sys.argv[1]) * (1 << 30) // len(block)):
    sys.stdout.buffer.write(block)' "$1"
}

# Fails unless the JSON line $1 has the sum of $2 GiB from produce.
check_sum() {
  python3 -c '
import json, sys
answer, want = json.loads(sys.argv[1]), float(sys.argv[2])
assert answer["value"] == want, (answer["value"], want)
print("%.2f GB/s on %s" % (answer["bytes_per_second"] / 1e9, answer["device"]))
' "$1" "$(($2 * 1024 * block_sum))"
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

section_sanitize() {
  local tool status=0
  if ! command -v compute-sanitizer >/dev/null; then
    echo "compute-sanitizer not found; put the CUDA Toolkit's bin folder on PATH"
    return 1
  fi
  for tool in memcheck racecheck; do
    local log=$out/$tool.log
    if REDUCTION_TEST_MAX_ELEMENTS=1048576 compute-sanitizer --tool "$tool" --error-exitcode 86 \
         "$bin/reduction_gpu_tests" --gtest_brief=1 >"$log" 2>&1; then
      grep 'SUMMARY' "$log"
      ran "$log" || status=1
      grep -qE 'SUMMARY: 0 (errors|hazards)' "$log" || status=1
    elif grep -qiE 'not supported|unsupported|permission' "$log"; then
      grep -iE -m 3 'not supported|unsupported|permission' "$log"
      [ "$status" -eq 1 ] || status=3
    else
      grep -E 'SUMMARY|FAILED' "$log" || tail -n 20 "$log"
      status=1
    fi
  done
  return "$status"
}

section_bench() {
  "$bin/reduction-kernel-bench"
}

section_file4() {
  local gib=${FILE_GIB:-8} folder line status=0
  folder=$(roomy_folder "$gib") || return 1
  local file=$folder/reduction-$$.f32
  if produce "$gib" >"$file" && gpu_server; then
    for _ in 1 2 3; do
      line=$("$bin/reduction" --target="$listen" --json --connections=4 --dtype=float32 \
               sum "$file") || { status=1; break; }
      echo "$line"
      check_sum "$line" "$gib" || status=1
    done
    end_server || status=1
  else
    status=1
  fi
  rm -f "$file"
  return "$status"
}

# Resident memory of the server in KiB: VmRSS now, VmHWM at its highest.
server_kib() { awk -v key="$1:" '$1 == key {print $2}' "/proc/$server/status"; }

section_stream16() {
  local gib=${STREAM_GIB:-16} limit=$((2 << 30)) before highest line status=0
  gpu_server --memory-limit="$limit" || return 1
  echo 5 >"/proc/$server/clear_refs"  # the highest counts from here
  before=$(server_kib VmRSS)
  line=$(produce "$gib" | "$bin/reduction" --target="$listen" --json --connections=1 \
           --dtype=float32 sum -) || status=1
  highest=$(server_kib VmHWM)
  echo "$line"
  check_sum "$line" "$gib" || status=1
  echo "server memory, MiB: $((before / 1024)) before, $((highest / 1024)) at the highest," \
       "$(($(server_kib VmRSS) / 1024)) after; growth $(((highest - before) / 1024)) of at most" \
       "$((limit >> 20)) allowed by --memory-limit"
  [ "$((highest - before))" -lt "$((limit / 1024))" ] || status=1
  end_server || status=1
  return "$status"
}

# In a subshell: a server that the section left is killed with it.
run_section() {
  trap '[ -z "$server" ] || kill -KILL "$server"' EXIT
  "section_$1"
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
[ $# -gt 0 ] || set -- session tests sanitize bench file4 stream16
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
