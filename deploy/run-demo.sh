#!/usr/bin/env bash
# Installs what is missing, builds the server and the command, starts a server on free ports, reduces
# measurements through it (one JSON line each on standard output), shows its byte counters and stops it.
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."

step() { echo "==> $*" >&2; }
fail() { echo "error: $*" >&2; exit 1; }

step "Installing what is missing"
deploy/install-dependencies.sh >&2
step "Building (the first time takes minutes)"
cmake --preset default >&2
cmake --build --preset default --parallel "$(nproc)" --target reduction-server reduction >&2

bin=build/release/bin
file=tests/data/ecg.npy
# gRPC would ask a proxy of the environment even for this machine.
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1,localhost"

step "Starting a server"
exec {log}< <(exec "$bin/reduction-server" --listen=127.0.0.1:0 --metrics=127.0.0.1:0 2>&1)
server=$!
trap 'kill -KILL "$server" 2>/dev/null || true' EXIT
listen='' metrics=''
while IFS= read -r -t 120 -u "$log" line; do
  echo "$line" >&2
  case $line in *serving*listen=*metrics=*)
    listen=${line#*listen=}
    listen=${listen%%[ ,]*}
    metrics=${line#*metrics=}
    metrics=${metrics%%[ ,]*}
    break ;;
  esac
done
[ -n "$listen" ] || fail "the server did not start; its last words are above"
cat <&"$log" >&2 &  # what it says from here on
"$bin/reduction" --target="$listen" health >&2

step "Reducing $file through $listen"
for operation in sum max min; do
  "$bin/reduction" --target="$listen" --json "$operation" "$file"
done
"$bin/reduction" --target="$listen" --json dot "$file" "$file"
"$bin/reduction" --target="$listen" --json stats "$file"

step "Bytes reduced so far, from http://$metrics/metrics"
exec {http}<>"/dev/tcp/${metrics%:*}/${metrics##*:}"
printf 'GET /metrics HTTP/1.0\r\nHost: %s\r\n\r\n' "$metrics" >&"$http"
grep '^reduction_bytes_total' <&"$http" || fail "no reduction_bytes_total at $metrics"

step "Stopping the server"
kill -TERM "$server"
status=0
wait "$server" || status=$?
trap - EXIT
[ "$status" -eq 0 ] || fail "the server ended with status $status"
step "Done. The programs are in $bin; README.md goes on from here."
