// What V4 unrolls and V5 keeps.
#pragma once

namespace reduction::kernels::ladder {

// The sum of tree[0] to tree[63], for thread 0; the block's first warp calls, all of it. A warp's
// threads run on their own since Volta, so neither lockstep nor `volatile` orders them: a barrier
// of the warp separates a round's reads from its writes, and those from the next round's reads.
// Threads past the step add numbers that nobody reads: cheaper than a branch.
__device__ inline float SumLastWarp(float* tree) {
  const unsigned tid = threadIdx.x;
  float own = tree[tid];
#pragma unroll
  for (unsigned step = 32; step > 0; step /= 2) {
    own += tree[tid + step];
    __syncwarp();
    tree[tid] = own;
    __syncwarp();
  }
  return own;
}

}  // namespace reduction::kernels::ladder
