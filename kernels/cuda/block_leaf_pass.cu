// Sums of 4 and 8-byte elements: a block a leaf, whose rows are all on their way at once.
//
// A warp that loads 16 bytes a thread needs a leaf's time for 32 rows; here each thread has 4 or 8
// bytes of every row, so that a leaf takes little more than one trip to the memory. For long arrays
// it also keeps fewer leaves open at a time, which the memory rewards.
#include "kernels/cuda/extrema.cuh"
#include "kernels/cuda/pass_kernels.h"
#include "kernels/cuda/unit_end.cuh"

namespace reduction::kernels::cuda {
namespace {

constexpr uint32_t kBlockWarps = kBlockLeafThreads / kWarpThreads;

// The exact sum of the integers that the threads of a warp hold, kRowsPerLeaf each.
template <class T>
__device__ Int128 WarpSumOfColumns(const T (&column)[kRowsPerLeaf]) {
  int64_t high = 0;  // of the halves above bit 32, where there are such
  uint64_t low = 0;
#pragma unroll
  for (uint32_t r = 0; r < kRowsPerLeaf; ++r) {
    if constexpr (sizeof(T) == 8) {
      low += static_cast<uint32_t>(column[r]);
      high += column[r] >> 32;
    } else {
      high += column[r];
    }
  }
  high = WarpSum(high);
  if constexpr (sizeof(T) == 8) return Int128::FromHalves(WarpSum(low), high);
  return Int128::FromInt64(high);
}

// One-dimensional grid of one block a unit; a unit is one leaf. Elements have 4 or 8 bytes: a
// thread a lane, of 8 bytes the first half of the threads.
template <class T, bool kIgnoreNan>
__global__ void __launch_bounds__(kBlockLeafThreads)
    BlockLeafPass(const __grid_constant__ PassArgs args) {
  constexpr bool kFloating = kIsFloating<T>;
  constexpr uint32_t kLeafLanes = kLeafBytes / sizeof(T);
  static_assert(kRowLanes<T> <= kBlockLeafThreads);
  __shared__ BlockStates shared;
  const uint32_t unit = blockIdx.x;
  const uint32_t index = FindTask(args, unit);
  const LeafTask& task = args.tasks == nullptr ? args.single : args.tasks[index];
  const uint64_t first = uint64_t{unit - task.first_unit} * kLeafLanes;
  const uint32_t count = static_cast<uint32_t>(min(task.count - first, uint64_t{kLeafLanes}));
  const T* const x = reinterpret_cast<const T*>(task.x) + first;
  const uint32_t lane = threadIdx.x;

  T column[kRowsPerLeaf];
  if (count == kLeafLanes && lane < kRowLanes<T>) {
#pragma unroll
    for (uint32_t r = 0; r < kRowsPerLeaf; ++r) column[r] = __ldcs(x + r * kRowLanes<T> + lane);
  } else {
#pragma unroll
    for (uint32_t r = 0; r < kRowsPerLeaf; ++r) {
      const uint32_t position = r * kRowLanes<T> + lane;
      column[r] = lane < kRowLanes<T> && position < count ? __ldcs(x + position) : T{};
    }
  }
  State state;
  state.count = count;
  if constexpr (kFloating) {
    double sum = 0;
    uint32_t nans = 0;
#pragma unroll
    for (uint32_t r = 0; r < kRowsPerLeaf; ++r) {
      const bool skip = kIgnoreNan && DeviceIsNan(column[r]);
      nans += skip ? 1 : 0;
      sum += skip ? 0.0 : static_cast<double>(column[r]);
    }
    state.sum = WarpSum(sum);
    if constexpr (kIgnoreNan) state.count = WarpSum(nans);
  } else {
    state.integer_sum = WarpSumOfColumns(column);
  }
  // Warps hold adjacent lanes.
  state = BlockTree<kFloating, kSumSet>(state, kBlockWarps, &shared);
  state.count = kFloating && kIgnoreNan ? count - state.count : count;
  State block_share;
  if (threadIdx.x < kWarpThreads) {
    EndUnit<kFloating, kSumSet, kIgnoreNan>(args, index, unit, state, &block_share);
  }
  __syncthreads();  // before `shared` is used again
  EndLaunch<kFloating, kSumSet, kIgnoreNan>(args, block_share, &shared);
}

}  // namespace

const void* BlockLeafPassKernel(ElementType type, NanPolicy nan_policy) {
  return DispatchElementType(type, [=](auto tag) -> const void* {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) < 4) {
      return nullptr;
    } else {
      if constexpr (kIsFloating<T>) {
        if (nan_policy == NanPolicy::kIgnore) {
          return reinterpret_cast<const void*>(&BlockLeafPass<T, true>);
        }
      }
      return reinterpret_cast<const void*>(&BlockLeafPass<T, false>);
    }
  });
}

}  // namespace reduction::kernels::cuda
