# shellcheck shell=bash
# Sourced by the scripts that start a server of their own.

# start_server PROGRAM [OPTION…]: starts it on free ports of loopback, waits until it serves and sets
# server (its process), listen and metrics (its addresses). Its log goes to standard error.
start_server() {
  local line log
  exec {log}< <(exec "$@" --listen=127.0.0.1:0 --metrics=127.0.0.1:0 2>&1)
  server=$!
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
  if [ -z "$listen" ]; then
    echo "error: $1 did not start; its last words are above" >&2
    kill -KILL "$server" 2>/dev/null
    return 1
  fi
  cat <&"$log" >&2 &  # what it says from here on
}

# stop_server: asks it to drain and returns its exit status.
stop_server() {
  kill -TERM "$server" && wait "$server"
}

# get_metrics: prints what the metrics address serves.
get_metrics() {
  local http
  exec {http}<>"/dev/tcp/${metrics%:*}/${metrics##*:}"
  printf 'GET /metrics HTTP/1.0\r\nHost: %s\r\n\r\n' "$metrics" >&"$http"
  cat <&"$http"
  exec {http}<&-
}

# gRPC would ask a proxy of the environment even for this machine.
export no_proxy="${no_proxy:+$no_proxy,}127.0.0.1,localhost"
