# shellcheck shell=bash
# Sourced by test-image.sh.

# find_nvcc [USUAL]: the nvcc that CMakeLists.txt takes: CUDACXX, else the one in the usual place, else
# the PATH's. Fails where there is none.
find_nvcc() {
  local usual=${1:-/usr/local/cuda/bin/nvcc}
  if [ -n "${CUDACXX:-}" ]; then
    command -v "$CUDACXX"
  elif [ -x "$usual" ]; then
    echo "$usual"
  else
    command -v nvcc
  fi
}

# cuda_toolkit NVCC: the folder of the CUDA Toolkit that this nvcc compiles with. nvcc says it itself:
# what the PATH finds may be a link, or a script in another place that runs the real one.
cuda_toolkit() {
  local top
  top=$({ "$(realpath "$1")" --dryrun -x cu /dev/null 2>&1 || true; } | sed -n 's/^#\$ TOP=//p')
  if [ -z "$top" ] || [ ! -d "$top/nvvm/libdevice" ]; then
    echo "error: $1 names no CUDA Toolkit (its TOP is '$top')" >&2
    return 1
  fi
  realpath "$top"
}
