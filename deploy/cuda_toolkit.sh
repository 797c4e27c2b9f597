# shellcheck shell=bash
# Sourced by test-image.sh.

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
