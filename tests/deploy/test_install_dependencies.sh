#!/usr/bin/env bash
# install-dependencies.sh against an apt-get of its own that records what it is asked for. In a mount
# name space with an empty /usr/sbin, since policy-rc.d has its place there; needs root for that.
set -euo pipefail
exec </dev/null
script=$(realpath "$(dirname "$0")/../../deploy/install-dependencies.sh")
if [ -z "${TEST_INSTALL_INSIDE:-}" ]; then
  if ! unshare --mount true; then
    echo "needs root, and leave to have mounts of its own"
    [ "${REDUCTION_REQUIRE_DEPLOY:-}" = 1 ] && exit 1
    exit 77
  fi
  TEST_INSTALL_INSIDE=1 exec unshare --mount --propagation private bash "$0"
fi

fail() { echo "error: $*" >&2; exit 1; }
stub() { cat >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
policy=/usr/sbin/policy-rc.d

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mount -t tmpfs tmpfs /usr/sbin
mkdir "$work/bin"
for program in bash cat env grep id install ls rm; do
  ln -s "$(command -v $program)" "$work/bin/"
done
stub dpkg-query <<<'#!/bin/bash
[ "${@: -1}" != "$INSTALLED" ] || echo install ok installed'
stub apt-get <<<'#!/bin/bash
echo "apt-get $*" >>"$LOG"
[ ! -x /usr/sbin/policy-rc.d ] || { /usr/sbin/policy-rc.d nginx start; echo "policy $?" >>"$LOG"; }
exit "$APT_STATUS"'
stub systemctl <<<'#!/bin/bash
echo "systemctl $*" >>"$LOG"'
export LOG=$work/log INSTALLED='' APT_STATUS=0

# run OPTION…: its status, with what apt-get and systemctl were asked for in $asked.
run() {
  local status=0
  : >"$LOG"
  PATH=$work/bin "$work/bin/bash" "$script" "$@" >"$work/output" 2>&1 || status=$?
  asked=$(cat "$LOG")
  return $status
}
asked() { grep -qE -- "$1" <<<"$asked"; }

run --deploy || fail "$(cat "$work/output")"
asked '^apt-get install .* --no-remove ' || fail "packages may be removed: $asked"
for package in runc kubernetes-client nginx prometheus; do
  asked "^apt-get install .* $package( |$)" || fail "not asked for $package: $asked"
done
asked '^policy 101$' || fail "services may start: $asked"
[ ! -e $policy ] || fail "policy-rc.d is left behind"
asked '^systemctl disable --quiet prometheus.service nginx.service$' || fail "enabled: $asked"

APT_STATUS=100
! run --deploy || fail "apt-get failed unnoticed"
grep -q '^error: apt-get failed' "$work/output" || fail "$(cat "$work/output")"
[ ! -e $policy ] || fail "policy-rc.d is left behind after a failure"
APT_STATUS=0

# Docker's packages bring a runc, and who has a server enabled keeps it.
stub runc <<<'#!/bin/bash'
stub kubectl <<<'#!/bin/bash'
INSTALLED=nginx run --deploy || fail "$(cat "$work/output")"
! asked 'install .* (runc|kubernetes-client|nginx)( |$)' || fail "asked for what is there: $asked"
asked '^systemctl disable --quiet prometheus.service$' || fail "$asked"

printf '#!/bin/sh\nexit 0\n' >$policy
chmod +x $policy
run --deploy || fail "$(cat "$work/output")"
asked '^policy 0$' || fail "another policy-rc.d took the place of the machine's: $asked"
[ -e $policy ] || fail "the machine's policy-rc.d is gone"
rm $policy

run || fail "$(cat "$work/output")"
! asked 'policy|systemctl|nginx' || fail "without --deploy: $asked"
asked '^apt-get install .* --no-remove ' || fail "packages may be removed: $asked"
echo "nothing is removed, started or enabled"
