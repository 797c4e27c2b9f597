// V4: from 64 values on one warp is enough, and a warp needs no barrier of the block. Its six
// rounds are unrolled, with __syncwarp between them; the other warps are done and make room.
//
// Buys a seventh: six of nine block barriers are gone, and with them six loop conditions. What
// remains: the loop above the last warp, whose bound is not known when compiling.
#include "kernels/ladder/last_warp.cuh"
#include "kernels/ladder/load.cuh"
#include "kernels/ladder/passes.cuh"

namespace reduction::kernels::ladder {
namespace {

__global__ void SumV4(const float* x, size_t count, float* sums) {
  __shared__ float tree[kBlockThreads];
  const unsigned tid = threadIdx.x;
  tree[tid] = LoadTwo(x, count, blockDim.x);
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 32; step /= 2) {
    if (tid < step) tree[tid] += tree[tid + step];
    __syncthreads();
  }
  if (tid >= 32) return;
  const float sum = SumLastWarp(tree);
  if (tid == 0) sums[blockIdx.x] = sum;
}

}  // namespace

void LaunchV4(const Sum<float>& sum) { LaunchPasses(&SumV4, 2 * kBlockThreads, sum); }

}  // namespace reduction::kernels::ladder
