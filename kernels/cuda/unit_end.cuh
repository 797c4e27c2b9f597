// What leaf passes do with the states of their units, and how a launch of them ends.
#pragma once

#include <cstdint>

#include "kernels/cuda/atomic_cell.cuh"
#include "kernels/cuda/nodes.cuh"

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

// A warp ends unit `unit` of task `index`, whose state thread 0 has. *block_share: what the warp
// adds to its block's share where one task ends by atomics.
template <bool kFloating, Components kComponents, bool kIgnoreNan>
__device__ inline void EndUnit(const PassArgs& args, uint32_t index, uint32_t unit,
                               const State& state, State* block_share) {
  constexpr Components kAtomic = AtomicPart(kComponents);
  const bool writer = WarpLane() == 0;
  const uint32_t task_units = args.tasks == nullptr ? args.unit_count : args.tasks[index].units;
  if (args.finish == Finish::kAtomic && args.tasks == nullptr) {
    *block_share = Combine<kFloating, kAtomic>(*block_share, state);
  } else if (writer && task_units == 1) {
    CopyFields<kFloating, kComponents>(state, args.results + index);
  } else if (writer && args.finish == Finish::kAtomic) {
    AddToCell<kFloating, kAtomic, kIgnoreNan>(state, args.cells + index);
  } else if (writer) {
    StoreNode<kFloating, kComponents>(state, args.nodes, args.unit_count, unit);
  }
}

// All threads of all blocks call last. Thread 0 of each warp has the warp's `block_share`.
template <bool kFloating, Components kComponents, bool kIgnoreNan>
__device__ inline void EndLaunch(const PassArgs& args, State block_share, BlockStates* shared) {
  constexpr Components kAtomic = AtomicPart(kComponents);
  if (args.finish == Finish::kAtomic) {
    if (args.tasks == nullptr) {
      block_share = BlockTree<kFloating, kAtomic>(block_share, blockDim.x / kWarpThreads, shared);
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
        FoldNodes<kFloating, kComponents>(args.nodes, args.unit_count, 0, args.unit_count, shared);
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

}  // namespace reduction::kernels::cuda
