// V6: threads of a warp hand each other their values through registers (BlockSum). Shared memory is
// left for one value a warp: eight stores instead of hundreds, one block barrier instead of three.
//
// Buys a sixth on an A100, nothing on an H200: there the tree is no longer what one waits for.
// What remains is what all steps so far have in common: a thread asks for eight bytes and then
// waits, and a block comes and goes for every 2 KiB.
#include "kernels/ladder/block_sum.cuh"
#include "kernels/ladder/load.cuh"
#include "kernels/ladder/passes.cuh"

namespace reduction::kernels::ladder {
namespace {

template <unsigned kThreads>
__global__ void SumV6(const float* x, size_t count, float* sums) {
  const float sum = BlockSum<kThreads>(LoadTwo(x, count, kThreads));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace

void LaunchV6(const Sum<float>& sum) {
  LaunchPasses(&SumV6<kBlockThreads>, 2 * kBlockThreads, sum);
}

}  // namespace reduction::kernels::ladder
