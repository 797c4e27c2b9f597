// The five-kernel series' last step: V5's unrolled block under a grid of fixed size that strides,
// two elements a thread and round. A block's tree is paid once for thousands of elements, and a
// thread has several loads on their way.
//
// Buys a third over the last warp alone. What V7 still has over it: loads of sixteen bytes.
#include "kernels/ladder/passes.cuh"
#include "kernels/ladder/unrolled_tree.cuh"

namespace reduction::kernels::ladder {
namespace {

constexpr unsigned kBlocksPerMultiprocessor = 8;

template <unsigned kThreads>
__global__ void SumGridStride(const float* x, size_t count, float* sums) {
  const size_t stride = size_t{gridDim.x} * 2 * kThreads;
  float own = 0.0f;
  for (size_t i = size_t{blockIdx.x} * 2 * kThreads + threadIdx.x; i < count; i += stride) {
    own += x[i];
    if (i + kThreads < count) own += x[i + kThreads];
  }
  const float sum = SumUnrolled<kThreads>(own);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace

void LaunchGridStride(const Sum<float>& sum) {
  const unsigned blocks = StridingBlocks(sum.count, 2 * kBlockThreads, kBlocksPerMultiprocessor);
  LaunchTwoPasses(&SumGridStride<kBlockThreads>, blocks, sum);
}

}  // namespace reduction::kernels::ladder
