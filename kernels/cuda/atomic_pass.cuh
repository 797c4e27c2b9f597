// Algorithm ATOMIC in one launch: blocks add what they have of a task to its cell, in any order.
#pragma once

#include <cstdint>

#include "kernels/cuda/atomic_cell.cuh"
#include "kernels/cuda/leaf_pass.cuh"

namespace reduction::kernels::cuda {

// One-dimensional grid of a block of kRowWords<T> threads a unit: args.unit_leaves leaves of a
// task. kComponents: kSumSet, kExtremaSet, both, or kDotSet.
template <class T, Components kComponents, bool kIgnoreNan, uint32_t kRows, uint32_t kMinBlocks>
__global__ void __launch_bounds__(kRowWords<T>, kMinBlocks)
    AtomicPass(const __grid_constant__ PassArgs args) {
  constexpr bool kFloating = kIsFloating<T>;
  using Sums = ColumnSums<T, kComponents, kIgnoreNan>;
  __shared__ typename Sums::Share shares[kRowWarps<T>];
  const uint32_t index = FindTask(args, blockIdx.x);
  const LeafTask task = args.tasks == nullptr ? args.single : args.tasks[index];
  const uint64_t unit_lanes = uint64_t{args.unit_leaves} * kLeafLanes<T>;
  const uint64_t start = (blockIdx.x - task.first_unit) * unit_lanes;
  const uint32_t count = static_cast<uint32_t>(min(task.count - start, unit_lanes));
  const T* const x = reinterpret_cast<const T*>(task.x) + start;
  const T* const y = kComponents == kDotComponent ? reinterpret_cast<const T*>(task.y) + start : x;
  Sums sums;
#pragma unroll 1
  for (uint32_t at = 0; at < count; at += kLeafLanes<T>) {
    AddLeaf<kRows>(x + at, y + at, min(count - at, kLeafLanes<T>), &sums);
  }
  sums.Write(count, threadIdx.x, &shares[threadIdx.x / kWarpThreads]);
  __syncthreads();
  if (threadIdx.x == 0) {
    State state = Sums::Shares::Total(shares, count);
    if (count == 0) state = State{};
    if (task.units == 1) {
      CopyFields<kFloating, kComponents>(state, args.results + index);
    } else {
      AddToCell<kFloating, kComponents, kIgnoreNan>(state, args.cells + index);
    }
  }
  if (args.unit_count == args.task_count || !IsLastBlock(args.ticket, gridDim.x)) return;
  for (uint32_t i = threadIdx.x; i < args.task_count; i += blockDim.x) {
    const LeafTask& ended = args.tasks == nullptr ? args.single : args.tasks[i];
    if (ended.units == 1) continue;
    const State state = TakeFromCell<kIgnoreNan>(args.cells + i, ended.count);
    CopyFields<kFloating, kComponents>(state, args.results + i);
  }
}

template <class T, bool kIgnoreNan>
const void* AtomicPassFor(Components set) {
  const auto tuned = [](auto components) {
    constexpr Components kComponents = decltype(components)::value;
    constexpr LoopShape kLoop = TunedLoop(kComponents, sizeof(T), kIsFloating<T>);
    return reinterpret_cast<const void*>(
        &AtomicPass<T, kComponents, kIgnoreNan, kLoop.rows, kLoop.min_blocks>);
  };
  switch (set) {
    case kSumSet:
      return tuned(std::integral_constant<Components, kSumSet>{});
    case kExtremaSet:
      return tuned(std::integral_constant<Components, kExtremaSet>{});
    case kDotSet:
      return tuned(std::integral_constant<Components, kDotSet>{});
    default:
      return tuned(std::integral_constant<Components, kSumSet | kExtremaSet>{});
  }
}

template <class T>
const void* AtomicPassOf(Components set, NanPolicy nan_policy) {
  if constexpr (kIsFloating<T>) {
    if (nan_policy == NanPolicy::kIgnore) return AtomicPassFor<T, true>(set);
  }
  return AtomicPassFor<T, false>(set);
}

}  // namespace reduction::kernels::cuda
