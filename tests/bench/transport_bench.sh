#!/usr/bin/env bash
# Benchmarks of the way from a client's memory to the reducer, over loopback:
#   transport_bench.sh [file4] [stream16]
#   file4     `reduction sum` of an 8 GiB file over four connections, three runs (FILE_GIB)
#   stream16  16 GiB from standard input over one connection, and the server's memory (STREAM_GIB)
# DEVICE is the server's --device (auto), PROGRAMS the folder of the programs, OUT that of the log.
# Needs python3 with numpy. Exit status 1 when a value is wrong or memory grows beyond its limit.
set -uo pipefail
exec </dev/null
here=$(cd "$(dirname "$0")" && pwd)
programs=${PROGRAMS:-$here/../../build/release/bin}
out=${OUT:-.}
functions=$here/../../deploy/server_functions.sh
[ -e "$functions" ] || functions=$here/server_functions.sh
. "$functions" || exit 2

python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
server=''
trap '[ -z "$server" ] || kill -KILL "$server"' EXIT

start() {
  start_server "$programs/reduction-server" --device="${DEVICE:-auto}" "$@" \
    2>>"$out/transport_server.log"
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
  "$python" -c '
import sys
import numpy as np
block = np.tile(np.arange(1024, dtype="<f4"), 1024 * 16).tobytes()
for _ in range(int(sys.argv[1]) * (1 << 30) // len(block)):
    sys.stdout.buffer.write(block)' "$1"
}

# Fails unless the JSON line $1 has the sum of $2 GiB from produce.
check_sum() {
  "$python" -c '
import json, sys
answer, want = json.loads(sys.argv[1]), float(sys.argv[2])
assert answer["value"] == want, (answer["value"], want)
print("%.2f GB/s on %s" % (answer["bytes_per_second"] / 1e9, answer["device"]))
' "$1" "$(($2 * 1024 * block_sum))"
}

bench_file4() {
  local gib=${FILE_GIB:-8} folder line status=0
  folder=$(roomy_folder "$gib") || return 1
  local file=$folder/reduction-$$.f32
  if produce "$gib" >"$file" && start; then
    for _ in 1 2 3; do
      line=$("$programs/reduction" --target="$listen" --json --connections=4 --dtype=float32 \
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

bench_stream16() {
  local gib=${STREAM_GIB:-16} limit=$((2 << 30)) before highest line status=0
  start --memory-limit="$limit" || return 1
  echo 5 >"/proc/$server/clear_refs"  # the highest counts from here
  before=$(server_kib VmRSS)
  line=$(produce "$gib" | "$programs/reduction" --target="$listen" --json --connections=1 \
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

[ $# -gt 0 ] || set -- file4 stream16
status=0
for name in "$@"; do
  "bench_$name" || status=1
done
exit "$status"
