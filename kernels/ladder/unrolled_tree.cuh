// What V5 unrolls; the series' last kernel uses it too.
#pragma once

#include "kernels/ladder/last_warp.cuh"

namespace reduction::kernels::ladder {

// The sum of the block's values `own`, for thread 0. Every round's bound is a constant, so no loop
// and no condition on the block size is left. Once a kernel.
template <unsigned kThreads>
__device__ inline float SumUnrolled(float own) {
  static_assert(kThreads >= 64 && (kThreads & (kThreads - 1)) == 0);
  __shared__ float tree[kThreads];
  const unsigned tid = threadIdx.x;
  tree[tid] = own;
  __syncthreads();
#pragma unroll
  for (unsigned step = kThreads / 2; step > 32; step /= 2) {
    if (tid < step) tree[tid] += tree[tid + step];
    __syncthreads();
  }
  return tid < 32 ? SumLastWarp(tree) : 0.0f;
}

}  // namespace reduction::kernels::ladder
