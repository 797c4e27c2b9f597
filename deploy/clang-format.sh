#!/usr/bin/env bash
# Runs clang-format, with the given arguments, over every C++ and CUDA file that git tracks.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z -- '*.h' '*.hpp' '*.cc' '*.cu' '*.cuh' | xargs -0 clang-format --style=file "$@"
