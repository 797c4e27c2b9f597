#!/usr/bin/env bash
# make_debian_root against an apt-get and a debootstrap of its own: it finds the machine's mirror, also
# where there are no package lists yet, and says so where there is none.
set -euo pipefail
exec </dev/null
source "$(dirname "$0")/../../deploy/debian_root.sh"

fail() { echo "error: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
lists=$work/lists source='http://mirror.test/debian'

apt-get() {
  case $1 in
    update) echo update >>"$work/updates"; [ -z "$source" ] || echo "$source bookworm" >"$lists" ;;
    indextargets) [ ! -e "$lists" ] || cat "$lists" "$lists" ;;
    *) fail "apt-get $*" ;;
  esac
}
apt-config() { :; }
debootstrap() {
  mkdir -p "${*: -2:1}"/etc/apt/apt.conf.d
  echo "$*" >"$work/debootstrap"
}
# updates COUNT: how often package lists were fetched since the last question.
updates() {
  local count=0
  [ ! -e "$work/updates" ] || count=$(wc -l <"$work/updates")
  rm -f "$work/updates"
  [ "$count" -eq "$1" ] || fail "package lists were fetched $count times, not $1"
}

make_debian_root "$work/first" git make
updates 1
grep -q -- "--include=git,make bookworm $work/first http://mirror.test/debian\$" "$work/debootstrap" ||
  fail "$(cat "$work/debootstrap")"
[ "$(cat "$work/first/etc/apt/sources.list")" = 'deb http://mirror.test/debian bookworm main' ] ||
  fail "$(cat "$work/first/etc/apt/sources.list")"

make_debian_root "$work/second"
updates 0

rm "$lists"
source=''
if make_debian_root "$work/third" 2>"$work/error"; then fail "a machine without sources has a mirror"; fi
grep -q '^error: no Debian 12 mirror .* MIRROR=URL$' "$work/error" || fail "$(cat "$work/error")"
updates 1

MIRROR=http://other.test/debian make_debian_root "$work/fourth"
updates 0
grep -q "bookworm $work/fourth http://other.test/debian\$" "$work/debootstrap" ||
  fail "$(cat "$work/debootstrap")"
echo "mirrors are found with and without package lists"
