// V0: where everybody starts. Each thread puts one element into shared memory; then a tree, whose
// step doubles from round to round, and whose active threads are those with tid % (2 step) = 0.
//
// It is right, and slow for two reasons. In round k one thread in 2^k works, spread over all warps,
// and the rest of its warp waits for it: in the fifth round eight warps run for eight additions.
// And the modulo by a number that is not known when compiling takes tens of instructions.
#include "kernels/ladder/passes.cuh"

namespace reduction::kernels::ladder {
namespace {

__global__ void SumV0(const float* x, size_t count, float* sums) {
  __shared__ float tree[kBlockThreads];
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  tree[tid] = i < count ? x[i] : 0.0f;  // past the end is the identity: all threads reach barriers
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    if (tid % (2 * step) == 0) tree[tid] += tree[tid + step];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = tree[0];
}

}  // namespace

void LaunchV0(const Sum<float>& sum) { LaunchPasses(&SumV0, kBlockThreads, sum); }

}  // namespace reduction::kernels::ladder
