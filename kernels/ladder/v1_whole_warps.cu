// V1: the same tree as V0, but thread k works on element 2 step k. The active threads are the first
// ones of the block, so whole warps work and whole warps are done: no divergence until one warp is
// left, and no modulo.
//
// Buys a factor of two. What remains: neighbours in a warp are 2 step words apart, and shared
// memory has 32 banks of one word. At step 16 all threads of a warp want the same bank, and take
// turns.
#include "kernels/ladder/passes.cuh"

namespace reduction::kernels::ladder {
namespace {

__global__ void SumV1(const float* x, size_t count, float* sums) {
  __shared__ float tree[kBlockThreads];
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  tree[tid] = i < count ? x[i] : 0.0f;
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const unsigned at = 2 * step * tid;
    if (at < blockDim.x) tree[at] += tree[at + step];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = tree[0];
}

}  // namespace

void LaunchV1(const Sum<float>& sum) { LaunchPasses(&SumV1, kBlockThreads, sum); }

}  // namespace reduction::kernels::ladder
