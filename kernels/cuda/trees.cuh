// Several adjacent-pair trees over a warp's threads at once.
#pragma once

#include <cstdint>

#include "kernels/cuda/warp.cuh"

namespace reduction::kernels::cuda {

constexpr uint32_t PowerOfTwoFrom(uint32_t n) {
  uint32_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// Combines the lanes of a thread's word by adjacent pairs.
template <uint32_t kLanes>
__device__ inline double LaneTree(double (&lanes)[kLanes]) {
#pragma unroll
  for (uint32_t step = 1; step < kLanes; step *= 2) {
#pragma unroll
    for (uint32_t c = 0; c < kLanes; c += 2 * step) lanes[c] += lanes[c + step];
  }
  return lanes[0];
}

// values[i] is this thread's leaf of tree i, kTrees a power of two. Thread t gets the root of tree
// t % kTrees: each step halves the trees that a thread still works on, so that kTrees trees take
// little more than one. A sum of two numbers does not depend on their order.
template <uint32_t kTrees, class N>
__device__ inline N WarpTrees(const N (&values)[kTrees]) {
  static_assert((kTrees & (kTrees - 1)) == 0 && kTrees <= kWarpThreads);
  N held[kTrees];
#pragma unroll
  for (uint32_t i = 0; i < kTrees; ++i) held[i] = values[i];
#pragma unroll
  for (uint32_t step = 1; step < kWarpThreads; step *= 2) {
    if (step < kTrees) {
      const bool odd = (WarpLane() & step) != 0;
#pragma unroll
      for (uint32_t i = 0; i < kTrees / (2 * step); ++i) {
        const N kept = odd ? held[2 * i + 1] : held[2 * i];
        const N given = odd ? held[2 * i] : held[2 * i + 1];
        held[i] = kept + __shfl_xor_sync(kWholeWarp, given, step);
      }
    } else {
      held[0] = held[0] + __shfl_xor_sync(kWholeWarp, held[0], step);
    }
  }
  return held[0];
}

}  // namespace reduction::kernels::cuda
