// The first launch of a reduction: a block a leaf, a thread a column of its rows.
//
// All rows of a leaf are on their way at once, a word a thread, so that a leaf takes little more
// than one trip to the memory. Few leaves are open at a time, which the memory rewards.
#pragma once

#include <cstdint>

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/loop_shape.h"
#include "kernels/cuda/pass_kernels.h"
#include "kernels/cuda/tasks.cuh"

namespace reduction::kernels::cuda {

// The first of the `count` elements at `leaf` that takes part; `first` is the first of all. All
// threads of the warp call.
template <class T, bool kIgnoreNan>
__device__ inline T FirstParticipant(const T* leaf, uint32_t count, T first) {
  if constexpr (kIgnoreNan && kIsFloating<T>) {
    for (uint32_t start = 0; DeviceIsNan(first) && start < count; start += kWarpThreads) {
      const uint32_t position = min(start + WarpLane(), count - 1);
      const uint32_t numbers = __ballot_sync(kWholeWarp, !DeviceIsNan(leaf[position]));
      if (numbers != 0) first = leaf[min(start + __ffs(numbers) - 1, count - 1)];
    }
  }
  return first;
}

// Bit c: whether element c of word `word` of `row` is one of the `count` of the leaf.
template <class T>
__device__ inline uint32_t ValidLanes(uint32_t row, uint32_t word, uint32_t count) {
  const int32_t left =
      static_cast<int32_t>(count) - static_cast<int32_t>(row * kRowLanes<T> + word * kWordLanes<T>);
  if (left <= 0) return 0;
  return left >= static_cast<int32_t>(kWordLanes<T>) ? (1u << kWordLanes<T>)-1 : (1u << left) - 1;
}

// Adds the leaf of `count` >= 1 elements at x (for a dot their products with those at y, which is
// unused otherwise) to `sums`. All threads of the block call, each for its word of the rows.
template <uint32_t kRows, class T, Components kComponents, bool kIgnoreNan>
__device__ inline void AddLeaf(const T* x, const T* y, uint32_t count,
                               ColumnSums<T, kComponents, kIgnoreNan>* sums) {
  constexpr bool kDot = kComponents == kDotComponent;
  static_assert(kRowsPerLeaf % kRows == 0);
  const uint32_t column = threadIdx.x;
  const Column<T> x_column(x, column);
  const Column<T> y_column(kDot ? y : x, column);
  const T first = *x;
  if (count == kLeafLanes<T>) {
#pragma unroll
    for (uint32_t row = 0; row < kRowsPerLeaf; row += kRows) {
      Word<T> xs[kRows];
      Word<T> ys[kRows] = {};
      x_column.Load(row, xs);
      if constexpr (kDot) y_column.Load(row, ys);
      if (row == 0) sums->Begin(FirstParticipant<T, kIgnoreNan>(x, count, first));
      sums->AddRows(xs, ys, row);
    }
  } else {
    const uint32_t rows = (count + kRowLanes<T> - 1) / kRowLanes<T>;
    sums->Begin(FirstParticipant<T, kIgnoreNan>(x, count, first));
#pragma unroll 1
    for (uint32_t row = 0; row < rows; row += kRows) {
      const int32_t bytes = static_cast<int32_t>(count * sizeof(T)) -
                            static_cast<int32_t>(row * kRowBytes + column * sizeof(Word<T>));
      Word<T> xs[kRows];
      Word<T> ys[kRows] = {};
      x_column.LoadSome(row, bytes, xs);
      if constexpr (kDot) y_column.LoadSome(row, bytes, ys);
#pragma unroll
      for (uint32_t k = 0; k < kRows; ++k) {
        sums->template Add<true>(xs[k], ys[k], row + k, ValidLanes<T>(row + k, column, count));
      }
      sums->EndRows(xs);
    }
  }
}

// One-dimensional grid of a block of kRowWords<T> threads for each leaf of each task. Where
// args.finish is kTicket there are at most kTicketLeaves.
template <class T, Components kComponents, bool kIgnoreNan, uint32_t kRows, uint32_t kMinBlocks>
__global__ void __launch_bounds__(kRowWords<T>, kMinBlocks)
    LeafPass(const __grid_constant__ PassArgs args) {
  constexpr bool kFloating = kIsFloating<T>;
  using Sums = ColumnSums<T, kComponents, kIgnoreNan>;
  __shared__ typename Sums::Share shares[kRowWarps<T>];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  // The fold pass may be on its way as soon as all blocks run; it waits for what they write.
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const uint32_t index = FindTask(args, blockIdx.x);
  const LeafTask task = args.tasks == nullptr ? args.single : args.tasks[index];
  const uint64_t start = uint64_t{blockIdx.x - task.first_unit} * kLeafLanes<T>;
  const uint32_t count = static_cast<uint32_t>(min(task.count - start, uint64_t{kLeafLanes<T>}));
  const bool one_leaf = task.count <= kLeafLanes<T>;
  State* const result = args.results + index;
  if (count == 0) {
    if (threadIdx.x == 0) CopyFields<kFloating, kComponents>(State{}, result);
    return;
  }
  const T* const x = reinterpret_cast<const T*>(task.x) + start;
  const T* const y = kComponents == kDotComponent ? reinterpret_cast<const T*>(task.y) + start : x;
  Sums sums;
  AddLeaf<kRows>(x, y, count, &sums);
  sums.Write(count, threadIdx.x, &shares[threadIdx.x / kWarpThreads]);
  __syncthreads();
  const NodePlace place = one_leaf ? NodePlace{reinterpret_cast<uint64_t*>(result), 0}
                                   : NodePlace{args.nodes + blockIdx.x, args.node_count};
  sums.Store(shares, count, task.first_index + start, place);
  if (args.finish == Finish::kTicket && args.node_count > 1) {
    FoldInLastBlock<kFloating, kComponents>(args);
  }
}

template <class T, Components kComponents, bool kIgnoreNan>
const void* TunedLeafPass() {
  constexpr LoopShape kLoop = TunedLoop(kComponents, sizeof(T), kIsFloating<T>);
  return reinterpret_cast<const void*>(
      &LeafPass<T, kComponents, kIgnoreNan, kLoop.rows, kLoop.min_blocks>);
}

template <class T, bool kIgnoreNan>
const void* LeafPassFor(Components set) {
  switch (set) {
    case kSumSet:
      return TunedLeafPass<T, kSumSet, kIgnoreNan>();
    case kExtremaSet:
      return TunedLeafPass<T, kExtremaSet, kIgnoreNan>();
    case kMomentsSet:
      return TunedLeafPass<T, kMomentsSet, kIgnoreNan>();
    case kSevenSet:
      return TunedLeafPass<T, kSevenSet, kIgnoreNan>();
    case kDotSet:
      return TunedLeafPass<T, kDotSet, kIgnoreNan>();
    default:
      return TunedLeafPass<T, kAllSet, kIgnoreNan>();
  }
}

template <class T>
const void* LeafPassOf(Components set, NanPolicy nan_policy) {
  if constexpr (kIsFloating<T>) {
    if (nan_policy == NanPolicy::kIgnore) return LeafPassFor<T, true>(set);
  }
  return LeafPassFor<T, false>(set);
}

}  // namespace reduction::kernels::cuda
