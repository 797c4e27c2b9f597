#!/usr/bin/env bash
# Runs the files of the GPU image, which test-image.sh --save-root=FILE wrote, on a machine with a GPU
# and its driver but without containers: in a chroot, as uid 10001, with the driver's libraries and
# device files lent to it as the NVIDIA Container Toolkit would. A sum must come from the GPU, and
# SIGTERM must end the server with status 0.
#   test-image-root.sh FILE.tar.xz [--device=cpu]      cpu: the same without a GPU
# Needs root, xz and $TMPDIR on a file system that allows device files.
set -euo pipefail
exec </dev/null
export LC_ALL=C  # numbers with a point
source "$(dirname "$0")/server_functions.sh"

fail() { echo "error: $*" >&2; exit 1; }
file=${1:?usage: test-image-root.sh FILE.tar.xz [--device=cpu]}
case ${2:-} in
  '') kind=cuda device=cuda:0 ;;
  --device=cpu) kind=cpu device=cpu ;;
  *) echo "error: unknown option $2; known: --device=cpu" >&2; exit 2 ;;
esac
[ "$(id -u)" -eq 0 ] || fail "chroot needs root"

# Mounts end with this script where it may have a name space of its own.
if [ -z "${IMAGE_ROOT_INSIDE:-}" ] && unshare --mount --propagation private true 2>/dev/null; then
  IMAGE_ROOT_INSIDE=1 exec unshare --mount --propagation private bash "$0" "$@"
fi

root=$(mktemp -d "${TMPDIR:-/tmp}/image-root.XXXXXX")
server=''
cleanup() {
  [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
  umount -R "$root/dev" "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT
tar -xJf "$file" -C "$root" --numeric-owner
chmod 755 "$root"

# Mounted where that is allowed. Elsewhere device files are made anew, and of /proc the driver gets a
# copy of what says which devices there are.
if ! mount --rbind /dev "$root/dev" 2>/dev/null; then
  for node in /dev/{null,zero,full,random,urandom} /dev/nvidia*; do
    [ ! -e "$node" ] || cp -a "$node" "$root/dev/" || fail "neither mount nor mknod is allowed here"
  done
  mkdir -m 1777 "$root/dev/shm"
fi
if ! mount --rbind /proc "$root/proc" 2>/dev/null; then
  echo "no mounts here: a copy of /proc's files about devices"
  mkdir "$root/proc/driver"
  for node in cpuinfo devices filesystems meminfo modules version driver/nvidia; do
    [ ! -e "/proc/$node" ] || cp -r "/proc/$node" "$root/proc/$node"
  done
fi

# Lines "name path" of the libraries of the driver that CUDA programs load.
driver_libraries() {
  local folder folders=${LD_LIBRARY_PATH:-}
  {
    ldconfig -p | awk '$NF ~ /^\// {print $1, $NF}'
    for folder in ${folders//:/ } /usr/local/nvidia/lib64; do
      find "$folder" -maxdepth 1 -name 'lib*.so.*' -printf '%f %p\n' 2>/dev/null || true
    done
  } | grep -E '^lib(cuda|nvidia-(ml|ptxjitcompiler|nvvm|gpucomp))\.so\.[0-9]+ ' | grep -v i386 || true
}
if [ $kind = cuda ]; then
  while read -r name path; do
    cp -L "$path" "$root/usr/lib/x86_64-linux-gnu/$name"
    echo "lent: $path"
  done < <(driver_libraries)
  [ -e "$root/usr/lib/x86_64-linux-gnu/libcuda.so.1" ] || fail "this machine has no libcuda.so.1"
  chroot "$root" ldconfig
fi

inside=(chroot --userspec=10001:10001 --groups=10001 "$root")
start=${EPOCHREALTIME/./}
start_server "${inside[@]}" /usr/bin/reduction-server --device=$kind
echo "ready after $(((${EPOCHREALTIME/./} - start) / 1000)) ms, as uid" \
     "$(awk '/^Uid:/ {print $2}' "/proc/$server/status")"
[ "$("${inside[@]}" /usr/bin/reduction --target="$listen" health)" = SERVING ] || fail "not SERVING"

# 16 Mi ones of float32.
printf '\0\0\200\77' >"$root/ones"
for _ in {1..24}; do
  cat "$root/ones" "$root/ones" >"$root/twice"
  mv "$root/twice" "$root/ones"
done
answer=$("${inside[@]}" /usr/bin/reduction --target="$listen" \
  sum --json --device=$kind --dtype=float32 /ones)
echo "$answer"
grep -Eq '"value": ?16777216(\.0)?[,}]' <<<"$answer" || fail "16,777,216 ones have another sum"
grep -Eq "\"device\": ?\"$device\"" <<<"$answer" || fail "the sum does not come from $device"
get_metrics | grep "^reduction_bytes_total{.*device=\"$device\".*} [1-9]" ||
  fail "reduction_bytes_total does not count the bytes of $device"

stop_server || fail "exit status $? after SIGTERM"
server=''
echo "PASS: the image's files serve from $device"
