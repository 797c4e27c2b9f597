#!/usr/bin/env bash
# find_nvcc looks where CMakeLists.txt does, and cuda_toolkit finds the toolkit behind a link to nvcc and
# behind a script that runs it, and says so when there is none.  test_cuda_toolkit.sh NVCC
set -euo pipefail
source "$(dirname "$0")/../../deploy/cuda_toolkit.sh"

fail() { echo "error: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
nvcc=$(realpath "$1")
mkdir "$work/bin" "$work/link"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$nvcc" >"$work/bin/nvcc"
chmod +x "$work/bin/nvcc"
ln -s "$nvcc" "$work/link/nvcc"
# As where a package links the toolkit's folders into a prefix, these lead nowhere in an image.
mkdir "$work/nvvm"
ln -s /nowhere "$work/nvvm/libdevice"

toolkit=$(cuda_toolkit "$nvcc")
[ -x "$toolkit/bin/ptxas" ] || fail "no ptxas in $toolkit"
for found in "$work/bin/nvcc" "$work/link/nvcc"; do
  [ "$(cuda_toolkit "$found")" = "$toolkit" ] || fail "$found: $(cuda_toolkit "$found"), not $toolkit"
done
if cuda_toolkit /bin/true 2>"$work/error"; then fail "/bin/true has a toolkit"; fi
grep -q '^error: /bin/true names no CUDA Toolkit' "$work/error" || fail "$(cat "$work/error")"

# finds WHAT [USUAL]
finds() { [ "$(PATH=$work/bin:$PATH find_nvcc "${@:2}")" = "$1" ] || fail "${*:2}: not $1"; }
CUDACXX=/bin/true finds /bin/true
CUDACXX=nvcc finds "$work/bin/nvcc"
unset CUDACXX
finds "$work/link/nvcc" "$work/link/nvcc"
finds "$work/bin/nvcc" /nowhere/nvcc
if CUDACXX=/nowhere/nvcc find_nvcc; then fail "an nvcc that is not there was found"; fi
echo "$toolkit, by its own path, a link and a script"
