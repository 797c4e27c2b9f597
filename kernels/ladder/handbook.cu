// The handbook's three: int32 sums, all under a grid of fixed size that strides.
//
// 1. Two passes with a block reduction by shuffles: the partials, then one block over them.
// 2. The same with cooperative groups' reduce: no shuffle written by hand, and for integers one
//    instruction a warp in code for sm_80 and up (redux.sync) instead of five rounds.
// 3. One pass with int4 loads and one atomic a block: a quarter of the load instructions, no
//    partials. Integer additions may come in any order, so the result is exact all the same.
//
// Sums are taken of unsigned integers, which wrap where signed ones must not: the same bits.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "kernels/ladder/block_sum.cuh"
#include "kernels/ladder/passes.cuh"

namespace reduction::kernels::ladder {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlocksPerMultiprocessor = 8;
constexpr unsigned kLanes = 4;  // elements of a 16-byte load

// The thread's share of x.
template <unsigned kThreads>
__device__ uint32_t ThreadSum(const int32_t* x, size_t count) {
  uint32_t own = 0;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += size_t{gridDim.x} * kThreads) {
    own += static_cast<uint32_t>(x[i]);
  }
  return own;
}

template <unsigned kThreads>
__global__ void SumByShuffles(const int32_t* x, size_t count, int32_t* sums) {
  const uint32_t sum = BlockSum<kThreads>(ThreadSum<kThreads>(x, count));
  if (threadIdx.x == 0) sums[blockIdx.x] = static_cast<int32_t>(sum);
}

template <unsigned kThreads>
__global__ void SumByGroups(const int32_t* x, size_t count, int32_t* sums) {
  __shared__ uint32_t warps[kThreads / 32];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  uint32_t own = cg::reduce(warp, ThreadSum<kThreads>(x, count), cg::plus<uint32_t>());
  if (warp.thread_rank() == 0) warps[warp.meta_group_rank()] = own;
  block.sync();
  if (warp.meta_group_rank() != 0) return;
  own = warp.thread_rank() < kThreads / 32 ? warps[warp.thread_rank()] : 0;
  own = cg::reduce(warp, own, cg::plus<uint32_t>());
  if (warp.thread_rank() == 0) sums[blockIdx.x] = static_cast<int32_t>(own);
}

template <unsigned kThreads>
__global__ void SumVectorsAtomic(const int32_t* x, size_t count, int32_t* result) {
  const int4* const vectors = reinterpret_cast<const int4*>(x);
  const size_t vector_count = count / kLanes;
  const size_t first = size_t{blockIdx.x} * kThreads + threadIdx.x;
  const auto bits = [](int32_t value) { return static_cast<uint32_t>(value); };
  uint32_t own = 0;
  for (size_t i = first; i < vector_count; i += size_t{gridDim.x} * kThreads) {
    const int4 v = vectors[i];
    own += (bits(v.x) + bits(v.y)) + (bits(v.z) + bits(v.w));
  }
  if (first < count % kLanes) own += bits(x[vector_count * kLanes + first]);
  const uint32_t sum = BlockSum<kThreads>(own);
  if (threadIdx.x == 0) atomicAdd(result, static_cast<int32_t>(sum));
}

}  // namespace

void LaunchTwoPassShuffles(const Sum<int32_t>& sum) {
  const unsigned blocks = StridingBlocks(sum.count, kBlockThreads, kBlocksPerMultiprocessor);
  LaunchTwoPasses(&SumByShuffles<kBlockThreads>, blocks, sum);
}

void LaunchTwoPassGroups(const Sum<int32_t>& sum) {
  const unsigned blocks = StridingBlocks(sum.count, kBlockThreads, kBlocksPerMultiprocessor);
  LaunchTwoPasses(&SumByGroups<kBlockThreads>, blocks, sum);
}

void LaunchVectorAtomic(const Sum<int32_t>& sum) {
  const unsigned blocks =
      StridingBlocks(sum.count, kLanes * kBlockThreads, kBlocksPerMultiprocessor);
  cuda::Check(cudaMemsetAsync(sum.result, 0, sizeof(int32_t), sum.stream.get()));
  LaunchPass(&SumVectorsAtomic<kBlockThreads>, blocks, sum, sum.result);
}

}  // namespace reduction::kernels::ladder
