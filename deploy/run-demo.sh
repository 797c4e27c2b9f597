#!/usr/bin/env bash
# Installs what is missing, builds the server and the command, starts a server on free ports, reduces
# measurements through it (one JSON line each on standard output), shows its byte counters and stops it.
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."
. deploy/server_functions.sh

step() { echo "==> $*" >&2; }
fail() { echo "error: $*" >&2; exit 1; }

step "Installing what is missing"
deploy/install-dependencies.sh >&2
step "Building (the first time takes minutes)"
cmake --preset default >&2
cmake --build --preset default --parallel "$(nproc)" --target reduction-server reduction >&2

bin=build/release/bin
file=tests/data/ecg.npy

step "Starting a server"
start_server "$bin/reduction-server"
trap 'kill -KILL "$server" 2>/dev/null || true' EXIT
"$bin/reduction" --target="$listen" health >&2

step "Reducing $file through $listen"
for operation in sum max min; do
  "$bin/reduction" --target="$listen" --json "$operation" "$file"
done
"$bin/reduction" --target="$listen" --json dot "$file" "$file"
"$bin/reduction" --target="$listen" --json stats "$file"

step "Bytes reduced so far, from http://$metrics/metrics"
get_metrics | grep '^reduction_bytes_total.* [1-9]' || fail "no reduction_bytes_total at $metrics"

step "Stopping the server"
stop_server || fail "the server ended with status $?"
trap - EXIT
step "Done. The programs are in $bin; README.md goes on from here."
