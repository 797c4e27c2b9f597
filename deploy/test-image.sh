#!/usr/bin/env bash
# Builds the image of HEAD's deploy/docker/Dockerfile without Docker and runs it as a node would: with a
# read-only root, without capabilities, as uid 10001. A client outside sums arrays, and SIGTERM must
# let a running call finish.
#   test-image.sh [--all-architectures] [--save-root=FILE.tar.xz] [gpu] [cpu]
# Without a name: both variants. The Dockerfile's base images are stood in for by a minimal Debian 12,
# whose mirror and proxies are this machine's, and by this machine's CUDA Toolkit. To save time the GPU
# code is that of development builds (PTX of 7.5 and code for 9.0), or what CUDAARCHS lists, and not the
# Dockerfile's own list, which --all-architectures takes. --save-root keeps the GPU image's files for
# test-image-root.sh. Needs root, buildah, podman, runc, debootstrap, about 8 GB in $TMPDIR, and no GPU;
# exit status 77: it lacks one (with REDUCTION_REQUIRE_DEPLOY=1: 1). build/image-cache, which may be
# removed, makes a second run short.
set -euo pipefail
exec </dev/null
export LC_ALL=C  # numbers with a point
cd "$(dirname "$0")/.."
source deploy/debian_root.sh
source deploy/cuda_toolkit.sh

fail() { echo "error: $*" >&2; exit 1; }
lack() {
  [ "${REDUCTION_REQUIRE_DEPLOY:-}" != 1 ] || fail "$*"
  echo "skipped: $*"
  exit 77
}

save_root=''
architectures=(--build-arg "CUDA_ARCHITECTURES=${CUDAARCHS:-75-virtual;90-real}")
variants=()
for argument in "$@"; do
  case $argument in
    --save-root=?*) save_root=$(realpath "${argument#*=}") ;;
    --all-architectures) architectures=() ;;
    gpu | cpu) variants+=("$argument") ;;
    *) echo "error: unknown argument $argument; known: --all-architectures," \
              "--save-root=FILE, gpu, cpu" >&2; exit 2 ;;
  esac
done
[ ${#variants[@]} -gt 0 ] || variants=(gpu cpu)

[ "$(id -u)" -eq 0 ] || lack "building images in a chroot needs root"
for program in buildah podman runc debootstrap; do
  command -v $program >/dev/null || lack "no $program; deploy/install-dependencies.sh --deploy"
done
if [[ -n "$save_root" && " ${variants[*]} " != *" gpu "* ]]; then
  echo "error: --save-root keeps the gpu variant, and only ${variants[*]} is built" >&2
  exit 2
fi
if [[ " ${variants[*]} " == *" gpu "* ]]; then
  nvcc=$(find_nvcc) || lack "no CUDA Toolkit for the gpu variant; test-image.sh cpu needs none"
  toolkit=$(cuda_toolkit "$nvcc")
fi

# In name spaces of their own, mounts and left-over processes end with this script, however it ends.
if [ -z "${TEST_IMAGE_INSIDE:-}" ]; then
  TEST_IMAGE_INSIDE=1 exec unshare --mount --pid --fork --kill-child --mount-proc \
    --propagation private bash "$PWD/deploy/test-image.sh" "$@"
fi

commit=$(git rev-parse --short HEAD)
work=$(mktemp -d "${TMPDIR:-/tmp}/test-image.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
export TMPDIR=$PWD/build/image-cache  # buildah keeps the Dockerfile's cache mounts there
mkdir -p "$TMPDIR"
storage=(--storage-driver vfs --root "$work/storage" --runroot "$work/run")
# Its log is silent: it would complain that no systemd is there to run health checks on time.
podman() {
  command podman "${storage[@]}" --log-level fatal --runtime runc --cgroup-manager cgroupfs "$@"
}

# base_images: imports a minimal Debian under the name of every image that the Dockerfile starts from.
base_images() {
  local name dockerfile=$work/source/deploy/docker/Dockerfile
  make_debian_root "$work/base"
  tar -C "$work/base" --exclude=./dev/* --exclude=./var/cache/apt/archives/*.deb -c . \
    >"$work/base.tar"
  rm -rf --one-file-system "$work/base"
  podman import --quiet "$work/base.tar" base >/dev/null
  rm "$work/base.tar"
  while read -r name; do
    podman tag base "$name"
  done < <(awk '$1 == "FROM" && $2 ~ /:/ {print $2}' "$dockerfile" | sort -u)
}

# build VARIANT
build() {
  local arguments=()
  if [ "$1" = gpu ]; then
    arguments=("${architectures[@]}" --volume "$toolkit:/usr/local/cuda:ro")
  fi
  buildah "${storage[@]}" build --isolation chroot --pull-never --layers --format docker \
    --build-arg "VARIANT=$1" "${arguments[@]}" --tag "reduction:$1" \
    --file "$work/source/deploy/docker/Dockerfile" "$work/source" >"$work/build.log" 2>&1 || {
      tail -n 40 "$work/build.log" >&2
      fail "the $1 image was not built"
    }
}

# A process of this machine, not of the container, in the container's network.
outside() { nsenter --net="/proc/$pid/ns/net" -- env -i PATH="$PATH" "$@"; }
reduction() { outside chroot "$image" /usr/bin/reduction "$@"; }
get_metrics() {
  outside bash -c 'exec 3<>/dev/tcp/127.0.0.1/9464
    printf "GET /metrics HTTP/1.0\r\nHost: reduction\r\n\r\n" >&3
    cat <&3'
}

# eventually SECONDS COMMAND…: runs the command again and again until it succeeds.
eventually() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    if [ $SECONDS -ge $deadline ]; then
      podman logs "$container" >&2
      fail "this did not happen in time: $*"
    fi
    sleep 0.05
  done
}
serving() { [ "$(reduction health 2>/dev/null)" = SERVING ]; }
not_serving() { ! serving; }
streaming() { get_metrics | grep '^reduction_received_bytes_total{source="stream"} [1-9]' >/dev/null; }
is() { [ "$2" = "$3" ] || fail "$1 is $2, not $3"; }

# check VARIANT: runs the image.
check() {
  local kernels start milliseconds pid image container client stopper
  image=$(podman image mount "reduction:$1")
  kernels=$(grep -c nv_fatbin "$image/usr/bin/reduction-server" || true)
  is "GPU code in the $1 image" "$((kernels > 0))" "$([ "$1" = cpu ] && echo 0 || echo 1)"
  container=$(podman create --network none --read-only --read-only-tmpfs=false --cap-drop ALL \
    --security-opt no-new-privileges --user 10001 --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
    "reduction:$1")
  start=${EPOCHREALTIME/./}
  podman start "$container" >/dev/null
  pid=$(podman inspect --format '{{.State.Pid}}' "$container")
  eventually 10 serving
  milliseconds=$(((${EPOCHREALTIME/./} - start) / 1000))
  echo "ready after $milliseconds ms"
  is "the user" "$(awk '/^Uid:/ {print $2, $3}' "/proc/$pid/status")" "10001 10001"
  is "its capabilities" "$(awk '/^Cap(Prm|Eff|Bnd)/ {print $2}' "/proc/$pid/status" | sort -u)" \
    0000000000000000
  podman healthcheck run "$container" >/dev/null || fail "the image's health check fails"
  echo "runs as uid 10001 without capabilities, its health check passes"

  printf '\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0' | reduction sum --json - --dtype=int64 | tee "$work/sum"
  grep -q '"value":3[,}]' "$work/sum" || fail "1 + 2 is not 3"
  get_metrics | grep '^reduction_bytes_total.* 16$' || fail "the metrics miss the 16 bytes"

  # A stream of ones, held open while the server is asked to end.
  mkfifo "$work/ones"
  reduction sum --json - --dtype=uint8 <"$work/ones" >"$work/sum" 3>&- &
  client=$!
  exec 3>"$work/ones"
  head -c 40000000 /dev/zero | tr '\0' '\1' >&3
  eventually 30 streaming
  podman stop --time 60 "$container" >/dev/null 3>&- &
  stopper=$!
  eventually 30 not_serving
  head -c 40000000 /dev/zero | tr '\0' '\1' >&3
  exec 3>&-
  wait $client || fail "the call that ran at SIGTERM failed"
  cat "$work/sum"
  grep -q '"value":80000000[,}]' "$work/sum" || fail "80,000,000 ones have another sum"
  wait $stopper
  is "the exit status after SIGTERM" "$(podman wait "$container")" 0
  podman logs "$container" 2>&1 | tail -n 1
  podman rm "$container" >/dev/null
  podman image unmount "reduction:$1" >/dev/null
  rm "$work/ones"
}

# Writes the files of the GPU image without documentation, locales and package lists.
save_root() {
  local image limit_mib=58
  image=$(podman image mount reduction:gpu)
  tar -C "$image" --numeric-owner --exclude=./usr/share/{doc,man,info,locale,i18n,zoneinfo,lintian} \
    --exclude=./usr/lib/x86_64-linux-gnu/gconv --exclude=./usr/share/perl* \
    --exclude=./var/{cache,log}/* --exclude=./var/lib/{apt,dpkg}/* --exclude=./packages \
    --exclude=./etc/apt/* --exclude=./etc/{hosts,resolv.conf} -c . | xz -9e -T2 >"$save_root"
  echo "$save_root: $(($(stat -c %s "$save_root") / 1048576)) MiB"
  [ "$(stat -c %s "$save_root")" -le $((limit_mib << 20)) ] || fail "more than $limit_mib MiB"
}

echo "==> A minimal Debian 12 as the base images"
mkdir "$work/source"
git archive "$commit" | tar -x -C "$work/source"
base_images
for variant in "${variants[@]}"; do
  echo "==> Building the $variant image of $commit"
  start=$SECONDS
  build "$variant"
  bytes=$(podman image inspect --format '{{.Size}}' "reduction:$variant")
  echo "built in $((SECONDS - start)) s, $((bytes / 1000000)) MB"
  echo "==> Running the $variant image"
  check "$variant"
done
if [ -n "$save_root" ]; then save_root; fi
echo "PASS: the images of $commit serve: ${variants[*]}"
