// The first launch of a reduction: a warp a unit of leaves.
#pragma once

#include <cstdint>

#include "kernels/cuda/atomic_cell.cuh"
#include "kernels/cuda/leaf_run.cuh"
#include "kernels/cuda/nodes.cuh"
#include "kernels/cuda/pass_kernels.h"

namespace reduction::kernels::cuda {

// The index of the task that `unit` belongs to.
__device__ inline uint32_t FindTask(const PassArgs& args, uint32_t unit) {
  uint32_t low = 0;
  uint32_t high = args.task_count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (args.tasks[middle].first_unit <= unit) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The state of one unit of a task; all threads of the warp call.
template <class T, Components kComponents, bool kIgnoreNan, bool kRealign>
__device__ inline State ReduceUnit(const LeafTask& task, uint32_t unit, uint32_t run_level,
                                   WarpNodes* nodes) {
  constexpr uint64_t kLeafLanes = kLeafBytes / sizeof(T);
  const uint64_t unit_lanes = kLeafLanes << run_level;
  const uint64_t first = (unit - task.first_unit) * unit_lanes;
  const uint32_t count = static_cast<uint32_t>(min(task.count - first, unit_lanes));
  const T* const x = reinterpret_cast<const T*>(task.x) + first;
  const T* y = nullptr;
  if constexpr (kComponents == kDotComponent) y = reinterpret_cast<const T*>(task.y) + first;
  return ReduceRun<T, kComponents, kIgnoreNan, kRealign>(x, y, count, task.first_index + first,
                                                         nodes);
}

// One-dimensional grid and blocks of whole warps, at most kMaxBlockWarps, of any number: the
// result is the same. Where args.finish is kTicket, units fit FoldNodes() of one block.
template <class T, Components kComponents, bool kIgnoreNan, bool kRealign>
__global__ void __launch_bounds__(kMaxBlockWarps* kWarpThreads, MinBlocks(kComponents, sizeof(T)))
    LeafPass(const __grid_constant__ PassArgs args) {
  constexpr bool kFloating = kIsFloating<T>;
  constexpr Components kAtomic = AtomicPart(kComponents);
  __shared__ BlockStates shared;
  __shared__ WarpNodes nodes[kMaxBlockWarps];
  const uint32_t block_warps = blockDim.x / kWarpThreads;
  const bool writer = WarpLane() == 0;
  State block_share;
  for (uint32_t unit = blockIdx.x * block_warps + threadIdx.x / kWarpThreads;
       unit < args.unit_count; unit += gridDim.x * block_warps) {
    const uint32_t index = FindTask(args, unit);
    const LeafTask& task = args.tasks == nullptr ? args.single : args.tasks[index];
    const State state = ReduceUnit<T, kComponents, kIgnoreNan, kRealign>(
        task, unit, args.run_level, &nodes[threadIdx.x / kWarpThreads]);
    if (args.finish == Finish::kAtomic && args.tasks == nullptr) {
      block_share = Combine<kFloating, kAtomic>(block_share, state);
    } else if (writer && task.units == 1) {
      CopyFields<kFloating, kComponents>(state, args.results + index);
    } else if (writer && args.finish == Finish::kAtomic) {
      AddToCell<kFloating, kAtomic, kIgnoreNan>(state, args.cells + index);
    } else if (writer) {
      StoreNode<kFloating, kComponents>(state, args.nodes, args.unit_count, unit);
    }
  }
  if (args.finish == Finish::kAtomic) {
    if (args.tasks == nullptr) {
      block_share = BlockTree<kFloating, kAtomic>(block_share, block_warps, &shared);
      if (threadIdx.x == 0) AddToCell<kFloating, kAtomic, kIgnoreNan>(block_share, args.cells);
    }
    if (!IsLastBlock(args.ticket)) return;
    for (uint32_t i = threadIdx.x; i < args.task_count; i += blockDim.x) {
      const LeafTask& task = args.tasks == nullptr ? args.single : args.tasks[i];
      if (args.tasks != nullptr && task.units == 1) continue;
      const State state = TakeFromCell<kIgnoreNan>(args.cells + i, task.count);
      CopyFields<kFloating, kAtomic>(state, args.results + i);
    }
    if (threadIdx.x == 0) *args.ticket = 0;
  } else if (args.finish == Finish::kTicket) {
    if (args.unit_count == 1 || !IsLastBlock(args.ticket)) return;
    const State state =
        FoldNodes<kFloating, kComponents>(args.nodes, args.unit_count, 0, args.unit_count, &shared);
    if (threadIdx.x == 0) {
      CopyFields<kFloating, kComponents>(state, args.results);
      *args.ticket = 0;
    }
  } else {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
  }
}

template <class T, bool kIgnoreNan>
const void* LeafPassFor(Components set, bool realign) {
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  switch (set) {
    case kSumSet:
      return address(&LeafPass<T, kSumSet, kIgnoreNan, false>);
    case kExtremaSet:
      return address(&LeafPass<T, kExtremaSet, kIgnoreNan, false>);
    case kMomentsSet:
      return address(&LeafPass<T, kMomentsSet, kIgnoreNan, false>);
    case kSevenSet:
      return address(&LeafPass<T, kSevenSet, kIgnoreNan, false>);
    case kDotSet:
      break;
    default:
      return address(&LeafPass<T, kAllSet, kIgnoreNan, false>);
  }
  if (realign) return address(&LeafPass<T, kDotSet, kIgnoreNan, true>);
  return address(&LeafPass<T, kDotSet, kIgnoreNan, false>);
}

template <class T>
const void* LeafPassOf(Components set, NanPolicy nan_policy, bool realign) {
  if constexpr (kIsFloating<T>) {
    if (nan_policy == NanPolicy::kIgnore) return LeafPassFor<T, true>(set, realign);
  }
  return LeafPassFor<T, false>(set, realign);
}

}  // namespace reduction::kernels::cuda
