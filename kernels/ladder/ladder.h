// The teaching ladder: one array summed in steps, each of which changes one thing. README.md tells
// the story; a step is a file, and a row of the tables below.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/cuda_stream.h"

namespace reduction::kernels::ladder {

inline constexpr unsigned kBlockThreads = 256;  // of every step

// An array to sum and where. All memory is the current device's.
template <class T>
struct Sum {
  const T* x;    // `count` elements, aligned to 16 bytes; nothing behind them is read
  size_t count;  // 0 to 2^38; the sum of none is 0
  T* workspace;  // WorkspaceElements(count) elements, aligned to 16 bytes, of any content
  T* result;     // one element, of any content
  cuda::CudaStreamView stream;
};

// Enqueues one step's sum and allocates nothing. float32 sums are within ErrorBound(); int32 sums
// are exact modulo 2^32. Throws CudaError when a launch is refused.
template <class T>
using Launcher = void(const Sum<T>& sum);

// Enough partials for every step: each pass leaves at most one for kBlockThreads elements.
constexpr size_t WorkspaceElements(size_t count) {
  size_t elements = 0;
  while (count > 1) {
    count = (count + kBlockThreads - 1) / kBlockThreads;
    elements += count;
  }
  return elements;
}

// How far any float32 step's sum can be from the exact one, in units of the sum of magnitudes:
// m u / (1 - m u), where m rounded additions lie on the longest path from an element to the result
// and u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). Longest are
// the paths of the grids that stride: through one thread's share, then through one atomic a block.
constexpr double ErrorBound(size_t count, unsigned multiprocessors) {
  const size_t share = count / (size_t{2048} * multiprocessors);
  const double mu = static_cast<double>(share + 8 * multiprocessors + 64) * 0x1p-24;
  return mu / (1 - mu);
}

template <class T>
struct Row {
  const char* name;
  Launcher<T>* launch;
};

Launcher<float> LaunchV0;
Launcher<float> LaunchV1;
Launcher<float> LaunchV2;
Launcher<float> LaunchV3;
Launcher<float> LaunchV4;
Launcher<float> LaunchV5;
Launcher<float> LaunchV6;
// At most 8 blocks a multiprocessor.
template <unsigned kBlocksPerMultiprocessor>
void LaunchV7(const Sum<float>& sum);
template <unsigned kBlocksPerMultiprocessor>
void LaunchV7Atomic(const Sum<float>& sum);

inline constexpr Row<float> kLadder[] = {
    {"V0 threads picked by modulo", &LaunchV0},
    {"V1 whole warps work", &LaunchV1},
    {"V2 sequential addressing", &LaunchV2},
    {"V3 first add during load", &LaunchV3},
    {"V4 last warp unrolled", &LaunchV4},
    {"V5 every round unrolled", &LaunchV5},
    {"V6 warp shuffles", &LaunchV6},
    {"V7 vector loads, grid x 4", &LaunchV7<4>},
    {"V7 vector loads, grid x 8", &LaunchV7<8>},
    {"V7 atomic, grid x 4", &LaunchV7Atomic<4>},
    {"V7 atomic, grid x 8", &LaunchV7Atomic<8>},
};

Launcher<float> LaunchGridStride;

// The five-kernel series. Four of its kernels are steps of the ladder.
inline constexpr Row<float> kSeries[] = {
    {"series: naive interleaved", &LaunchV0},
    {"series: sequential addressing", &LaunchV2},
    {"series: first add during load", &LaunchV3},
    {"series: last warp unrolled", &LaunchV4},
    {"series: grid-stride, unrolled", &LaunchGridStride},
};

Launcher<int32_t> LaunchTwoPassShuffles;
Launcher<int32_t> LaunchTwoPassGroups;
Launcher<int32_t> LaunchVectorAtomic;

// The handbook's three, of int32.
inline constexpr Row<int32_t> kHandbook[] = {
    {"handbook: two passes, shuffles", &LaunchTwoPassShuffles},
    {"handbook: cooperative groups", &LaunchTwoPassGroups},
    {"handbook: int4, one atomic", &LaunchVectorAtomic},
};

}  // namespace reduction::kernels::ladder
