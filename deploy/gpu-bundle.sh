#!/usr/bin/env bash
# Packs build/gpu-bundle for a GPU machine that has a driver and glibc 2.36 or later but neither gRPC
# nor this project: bin/ (programs, tests and benchmarks, stripped), lib/ (every shared library they
# load but glibc's, found by relative paths), data/, and gpu-session.sh to run there.
set -euo pipefail
export LC_ALL=C  # ldd's messages as this script looks for them
cd "$(dirname "$0")/.."

programs=build/release/bin
bundle=build/gpu-bundle
limit_mib=60
required=(reduction-server reduction reduction_gpu_tests reduction-kernels)

rm -rf "$bundle"
mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/data"
for program in "${required[@]}"; do
  if [ ! -x "$programs/$program" ]; then
    echo "error: $programs/$program is missing; build with CUDA: make build PRESET=ci" >&2
    exit 1
  fi
done
cp "${required[@]/#/$programs/}" "$bundle/bin/"
cp tests/data/ecg.npy tests/data/co2.npy "$bundle/data/"
cp deploy/gpu-session.sh deploy/server_functions.sh deploy/session_against_numpy.py \
  tests/bench/transport_bench.sh tests/bench/torch_sum.py tests/bench/make_tables.py \
  tests/bench/draw_charts.py tests/bench/bench_rows.py tests/bench/svg_drawing.py \
  tests/deploy/record_metrics.py "$bundle/"

# The loader and glibc's own libraries must be those of the machine, as must the driver's libcuda.
glibc='^(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|resolv|util|anl|nsl|cuda))\.so\.'
ldd "$bundle"/bin/* | awk '/=> not found/ {print "error: " $1 " not found" >"/dev/stderr"; bad = 1}
                           /=> \// {print $1, $3}
                           END {exit bad}' | sort -u |
  while read -r name path; do
    [[ $name =~ $glibc ]] || cp -L "$path" "$bundle/lib/$name"
  done

chmod u+w "$bundle"/bin/* "$bundle"/lib/*
strip --strip-unneeded "$bundle"/bin/* "$bundle"/lib/*
for program in "$bundle"/bin/*; do patchelf --set-rpath '$ORIGIN/../lib' "$program"; done
for library in "$bundle"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done

size_mib=$(($(du -sk "$bundle" | cut -f1) / 1024))
glibc_needed=$(objdump -T "$bundle"/bin/* "$bundle"/lib/* | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
echo "$bundle: $size_mib MiB, $(ls "$bundle/bin" | wc -l) programs, $(ls "$bundle/lib" | wc -l)" \
     "libraries; needs ${glibc_needed/_/ }"
if [ "$size_mib" -ge "$limit_mib" ]; then
  echo "error: the bundle must stay below $limit_mib MiB" >&2
  exit 1
fi
