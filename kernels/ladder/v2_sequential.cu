// V2: the step shrinks instead of growing. Thread k adds element k + step to element k, from half
// the block downwards: the active threads are still the first ones, and neighbours now touch
// neighbouring words, each in a bank of its own. No divergence and no bank conflicts.
//
// Buys a quarter. What remains: half the threads only load one element and then never add.
#include "kernels/ladder/passes.cuh"

namespace reduction::kernels::ladder {
namespace {

__global__ void SumV2(const float* x, size_t count, float* sums) {
  __shared__ float tree[kBlockThreads];
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  tree[tid] = i < count ? x[i] : 0.0f;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (tid < step) tree[tid] += tree[tid + step];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = tree[0];
}

}  // namespace

void LaunchV2(const Sum<float>& sum) { LaunchPasses(&SumV2, kBlockThreads, sum); }

}  // namespace reduction::kernels::ladder
