#!/usr/bin/env bash
# Installs what building and testing needs on Debian 12 or Ubuntu 24.04: only what is missing,
# through apt, with sudo when not root. Safe to run again; prints one line when there is nothing to do.
# Never removes a package. --tools adds what formatting and packing need, --deploy what the tests of
# deploy/ run, without leaving services of it running or enabled; --build-only is for images: nothing of
# the tests, but a compiler cache and what CPack runs.
set -euo pipefail
exec </dev/null

packages=(
  build-essential cmake ninja-build pkg-config ca-certificates
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libabsl-dev
  prometheus-cpp-dev libhwy-dev libcli11-dev nlohmann-json3-dev libspdlog-dev
)
test_packages=(
  git libgtest-dev libgmock-dev libbenchmark-dev
  python3 python3-grpcio python3-numpy python3-protobuf python3-venv
)
services=()
for option in "$@"; do
  case $option in
    --build-only)
      packages+=(ccache file)
      test_packages=()
      ;;
    --tools) packages+=(clang-format patchelf) ;;
    --deploy)
      packages+=(
        prometheus
        buildah podman debootstrap
        nginx iproute2 python3-yaml systemd
      )
      # Others package these too, and two packages cannot hold one file: runc is in Docker's containerd.io.
      command -v kubectl >/dev/null || packages+=(kubernetes-client)
      command -v runc >/dev/null || packages+=(runc)
      # The tests run these programs themselves.
      services=(prometheus nginx)
      ;;
    *)
      echo "error: unknown option $option; known: --build-only, --tools, --deploy" >&2
      exit 2
      ;;
  esac
done

missing=()
for package in "${packages[@]}" "${test_packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "dependencies: nothing to install"
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "error: apt-get not found; install by your system's own means: ${missing[*]}" >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "error: not root and no sudo; run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  sudo=(sudo)
fi

# A service that comes with a package would start at once and at every boot, and take its port.
new_services=()
for service in "${services[@]}"; do
  [[ " ${missing[*]} " != *" $service "* ]] || new_services+=("$service.service")
done
policy=/usr/sbin/policy-rc.d
if [ ${#new_services[@]} -gt 0 ] && [ ! -e $policy ]; then
  trap '"${sudo[@]}" rm -f $policy' EXIT
  "${sudo[@]}" install -m 755 /dev/stdin $policy <<<$'#!/bin/sh\nexit 101'
fi

echo "dependencies: installing ${missing[*]}"
if ! { "${sudo[@]}" apt-get update -qq &&
       "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y -qq --no-remove --no-install-recommends "${missing[@]}" >/dev/null; }; then
  echo "error: apt-get failed (its output is above); check the network and the package sources," \
       "then run $0 again" >&2
  exit 1
fi
if [ ${#new_services[@]} -gt 0 ] && command -v systemctl >/dev/null; then
  "${sudo[@]}" systemctl disable --quiet "${new_services[@]}"
fi
