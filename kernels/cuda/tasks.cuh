// What the passes over leaves have in common.
#pragma once

#include <cstdint>

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

// The end of a launch for one task that has no fold pass: the last block folds the nodes. All
// threads of all blocks call. A function of its own, so that the loops over rows keep their
// registers.
template <bool kFloating, Components kComponents>
__device__ __noinline__ void FoldInLastBlock(const PassArgs& args) {
  __shared__ WarpStates<kTicketLeaves / kFoldNodesPerThread / kWarpThreads> states;
  if (!IsLastBlock(args.ticket, gridDim.x)) return;
  const State state = FoldNodes<kFloating, kComponents>(args.nodes, args.node_count, 0,
                                                        args.node_count, states.get());
  if (threadIdx.x == 0) CopyFields<kFloating, kComponents>(state, args.results);
}

}  // namespace reduction::kernels::cuda
