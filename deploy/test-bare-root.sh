#!/usr/bin/env bash
# Proves that a bare Debian 12 machine needs nothing but git, make and ca-certificates: debootstraps a
# root, clones HEAD there and runs `make run` and `make test` in it with standard input closed. Needs
# root and debootstrap. The package mirror, proxies, certificates and Python index are this machine's.
# MIRROR=URL names another Debian mirror, KEEP=1 keeps the root afterwards. About 2 GB in $TMPDIR.
set -euo pipefail
exec </dev/null
export LC_ALL=C  # numbers with a point
cd "$(dirname "$0")/.."
source deploy/debian_root.sh

fail() { echo "error: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "chroot and mount need root"
command -v debootstrap >/dev/null || fail "debootstrap not found; apt-get install debootstrap"

# In name spaces of their own, mounts and left-over processes end with this script, however it ends.
if [ -z "${BARE_ROOT_INSIDE:-}" ]; then
  BARE_ROOT_INSIDE=1 exec unshare --mount --pid --fork --kill-child --propagation private \
    bash "$PWD/deploy/test-bare-root.sh"
fi

root=$(mktemp -d "${TMPDIR:-/tmp}/bare-root.XXXXXX")
cleanup() {
  umount -R "$root/dev" "$root/proc" 2>/dev/null || true
  if [ -n "${KEEP:-}" ]; then
    echo "kept $root"
  else
    rm -rf --one-file-system "$root"
  fi
}
trap cleanup EXIT

echo "==> Making a bare Debian 12 in $root"
make_debian_root "$root" git make ca-certificates

mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"

[ ! -e /etc/pip.conf ] || cp -L /etc/pip.conf "$root/etc/pip.conf"

environment=(HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT; do
  [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done
inside() { env -i "${environment[@]}" chroot "$root" /bin/bash -c "cd /root/reduction && $1" <&-; }

echo "==> Cloning $(git rev-parse --short HEAD)"
git bundle create --quiet "$root/root/reduction.bundle" HEAD
chroot "$root" git -c advice.detachedHead=false clone --quiet /root/reduction.bundle /root/reduction

echo "==> make run"
start=$SECONDS
output=$(inside 'make run') || fail "make run failed"
echo "$output"
for operation in sum max min dot stats; do
  lines=$(grep -c "^{.*\"op\": *\"$operation\".*}$" <<<"$output" || true)
  [ "$lines" -eq 1 ] || fail "make run printed $lines JSON lines of $operation, not 1"
done
awk '/^reduction_bytes_total/ {total += $NF} END {exit !(total > 0)}' <<<"$output" ||
  fail "make run showed no reduction_bytes_total above 0"
echo "==> make run took $((SECONDS - start)) s, installing and building included"

echo "==> make test"
start=$SECONDS
inside 'make test' || fail "make test failed"
echo "==> make test took $((SECONDS - start)) s"
echo "PASS: a bare Debian 12 runs and tests $(git rev-parse --short HEAD)"
