// The first launch of a reduction: a warp a unit of leaves.
#pragma once

#include <cstdint>

#include "kernels/cuda/leaf_run.cuh"
#include "kernels/cuda/pass_kernels.h"
#include "kernels/cuda/tuning.h"
#include "kernels/cuda/unit_end.cuh"

namespace reduction::kernels::cuda {

// The state of one unit of a task; all threads of the warp call.
template <class T, Components kComponents, bool kIgnoreNan, bool kRealign, uint32_t kRows,
          uint32_t kStages>
__device__ inline State ReduceUnit(const LeafTask& task, uint32_t unit, uint32_t run_level,
                                   const WarpMemory& memory) {
  constexpr uint64_t kLeafLanes = kLeafBytes / sizeof(T);
  const uint64_t unit_lanes = kLeafLanes << run_level;
  const uint64_t first = (unit - task.first_unit) * unit_lanes;
  const uint32_t count = static_cast<uint32_t>(min(task.count - first, unit_lanes));
  const T* const x = reinterpret_cast<const T*>(task.x) + first;
  const T* y = nullptr;
  if constexpr (kComponents == kDotComponent) y = reinterpret_cast<const T*>(task.y) + first;
  return ReduceRun<T, kComponents, kIgnoreNan, kRealign, kRows, kStages>(
      x, y, count, task.first_index + first, memory);
}

// The shared memory that a warp of LeafPass needs.
template <class T, Components kComponents, bool kRealign, uint32_t kRows, uint32_t kStages>
constexpr LeafKernel LeafKernelOf(const void* address) {
  constexpr Components kOrdered = kOrderedComponents<T, kComponents>;
  using Ring = RowRing<T, kComponents, kRealign, kRows, kStages>;
  return {address, Ring::kVectors * uint32_t{sizeof(Vector)},
          kOrdered == 0 ? 0 : StateWords(kIsFloating<T>, kOrdered) * uint32_t{sizeof(uint64_t)}};
}

// One-dimensional grid and blocks of whole warps, at most kMaxBlockWarps, of any number: the
// result is the same. Dynamic shared memory: LeafKernel::WarpBytes() a warp. Where args.finish is
// kTicket, units fit FoldNodes() of one block.
template <class T, Components kComponents, bool kIgnoreNan, bool kRealign, uint32_t kRows,
          uint32_t kStages, uint32_t kMinBlocks>
__global__ void __launch_bounds__(kMaxBlockWarps* kWarpThreads, kMinBlocks)
    LeafPass(const __grid_constant__ PassArgs args) {
  constexpr bool kFloating = kIsFloating<T>;
  constexpr LeafKernel kMemory = LeafKernelOf<T, kComponents, kRealign, kRows, kStages>(nullptr);
  extern __shared__ Vector warp_memory[];
  __shared__ BlockStates shared;
  const uint32_t block_warps = blockDim.x / kWarpThreads;
  WarpMemory memory;
  memory.ring = warp_memory +
                threadIdx.x / kWarpThreads * (kMemory.WarpBytes(args.run_level) / sizeof(Vector));
  memory.nodes = reinterpret_cast<uint64_t*>(memory.ring + kMemory.ring_bytes / sizeof(Vector));
  memory.levels = args.run_level + 1;
  State block_share;
  for (uint32_t unit = blockIdx.x * block_warps + threadIdx.x / kWarpThreads;
       unit < args.unit_count; unit += gridDim.x * block_warps) {
    const uint32_t index = FindTask(args, unit);
    const LeafTask& task = args.tasks == nullptr ? args.single : args.tasks[index];
    const State state = ReduceUnit<T, kComponents, kIgnoreNan, kRealign, kRows, kStages>(
        task, unit, args.run_level, memory);
    EndUnit<kFloating, kComponents, kIgnoreNan>(args, index, unit, state, &block_share);
  }
  EndLaunch<kFloating, kComponents, kIgnoreNan>(args, block_share, &shared);
}

template <class T, Components kComponents, bool kIgnoreNan, bool kRealign>
LeafKernel TunedLeafPass() {
  constexpr LoopShape kLoop = TunedLoop(kComponents, sizeof(T));
  constexpr LeafKernel kMemory =
      LeafKernelOf<T, kComponents, kRealign, kLoop.rows, kLoop.stages>(nullptr);
  // What a block may have without asking for more.
  static_assert(kMaxBlockWarps * kMemory.WarpBytes(kMaxRunLevel) + sizeof(BlockStates) + 16 <=
                48 << 10);
  return LeafKernelOf<T, kComponents, kRealign, kLoop.rows,
                      kLoop.stages>(reinterpret_cast<const void*>(
      &LeafPass<T, kComponents, kIgnoreNan, kRealign, kLoop.rows, kLoop.stages, kLoop.min_blocks>));
}

template <class T, bool kIgnoreNan>
LeafKernel LeafPassFor(Components set, bool realign) {
  switch (set) {
    case kSumSet:
      return TunedLeafPass<T, kSumSet, kIgnoreNan, false>();
    case kExtremaSet:
      return TunedLeafPass<T, kExtremaSet, kIgnoreNan, false>();
    case kMomentsSet:
      return TunedLeafPass<T, kMomentsSet, kIgnoreNan, false>();
    case kSevenSet:
      return TunedLeafPass<T, kSevenSet, kIgnoreNan, false>();
    case kDotSet:
      if (realign) return TunedLeafPass<T, kDotSet, kIgnoreNan, true>();
      return TunedLeafPass<T, kDotSet, kIgnoreNan, false>();
    default:
      return TunedLeafPass<T, kAllSet, kIgnoreNan, false>();
  }
}

template <class T>
LeafKernel LeafPassOf(Components set, NanPolicy nan_policy, bool realign) {
  if constexpr (kIsFloating<T>) {
    if (nan_policy == NanPolicy::kIgnore) return LeafPassFor<T, true>(set, realign);
  }
  return LeafPassFor<T, false>(set, realign);
}

}  // namespace reduction::kernels::cuda
