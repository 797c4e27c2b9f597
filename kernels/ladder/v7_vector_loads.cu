// V7: a thread loads sixteen bytes at a time and a fixed grid strides over the array, however long.
// A quarter of the load instructions; the loop keeps several loads of a thread on their way; one
// tree a block for the whole array, and a few hundred partials instead of hundreds of thousands.
// The last one to three elements are a scalar tail.
//
// Buys a sixth on an A100 and, with eight blocks a multiprocessor, a factor of two on an H200: the
// memory is the limit now. The atomic variant adds each block's sum to the result: no partials and
// no second launch. Its additions come in any order, so its last bits vary from run to run.
#include "kernels/ladder/block_sum.cuh"
#include "kernels/ladder/passes.cuh"

namespace reduction::kernels::ladder {
namespace {

constexpr unsigned kLanes = 4;  // elements of a 16-byte load

// The block's share of x, for thread 0.
template <unsigned kThreads>
__device__ float SumShare(const float* x, size_t count) {
  const float4* const vectors = reinterpret_cast<const float4*>(x);
  const size_t vector_count = count / kLanes;
  const size_t first = size_t{blockIdx.x} * kThreads + threadIdx.x;
  float own = 0.0f;
  for (size_t i = first; i < vector_count; i += size_t{gridDim.x} * kThreads) {
    const float4 v = vectors[i];
    own += (v.x + v.y) + (v.z + v.w);
  }
  if (first < count % kLanes) own += x[vector_count * kLanes + first];
  return BlockSum<kThreads>(own);
}

template <unsigned kThreads>
__global__ void SumV7(const float* x, size_t count, float* sums) {
  const float sum = SumShare<kThreads>(x, count);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <unsigned kThreads>
__global__ void SumV7Atomic(const float* x, size_t count, float* result) {
  const float sum = SumShare<kThreads>(x, count);
  if (threadIdx.x == 0) atomicAdd(result, sum);
}

}  // namespace

template <unsigned kBlocksPerMultiprocessor>
void LaunchV7(const Sum<float>& sum) {
  const unsigned blocks =
      StridingBlocks(sum.count, kLanes * kBlockThreads, kBlocksPerMultiprocessor);
  LaunchTwoPasses(&SumV7<kBlockThreads>, blocks, sum);
}

template <unsigned kBlocksPerMultiprocessor>
void LaunchV7Atomic(const Sum<float>& sum) {
  const unsigned blocks =
      StridingBlocks(sum.count, kLanes * kBlockThreads, kBlocksPerMultiprocessor);
  cuda::Check(cudaMemsetAsync(sum.result, 0, sizeof(float), sum.stream.get()));
  LaunchPass(&SumV7Atomic<kBlockThreads>, blocks, sum, sum.result);
}

template void LaunchV7<4>(const Sum<float>& sum);
template void LaunchV7<8>(const Sum<float>& sum);
template void LaunchV7Atomic<4>(const Sum<float>& sum);
template void LaunchV7Atomic<8>(const Sum<float>& sum);

}  // namespace reduction::kernels::ladder
