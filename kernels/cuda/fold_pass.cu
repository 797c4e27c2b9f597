// The second launch of a reduction: nodes of leaves become the states of tasks.
#include "kernels/cuda/nodes.cuh"
#include "kernels/cuda/pass_kernels.h"

namespace reduction::kernels::cuda {
namespace {

// May start before the leaf pass ends (programmatic dependent launch).
template <bool kFloating, Components kComponents>
__global__ void __launch_bounds__(FoldPassThreads(kComponents))
    FoldPass(const __grid_constant__ PassArgs args) {
  constexpr uint32_t kThreads = FoldPassThreads(kComponents);
  constexpr uint32_t kNodes = kThreads * kFoldNodesPerThread;
  __shared__ WarpStates<kThreads / kWarpThreads> shared;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  const bool many_tasks = args.tasks != nullptr;
  uint32_t first = blockIdx.x * kNodes;
  uint32_t count = min(kNodes, args.node_count - first);
  if (many_tasks) {
    first = args.tasks[blockIdx.x].first_unit;
    count = args.tasks[blockIdx.x].units;
    if (count == 1) return;  // the leaf pass wrote the result
  }
  State state =
      FoldNodes<kFloating, kComponents>(args.nodes, args.node_count, first, count, shared.get());
  if (many_tasks || gridDim.x == 1) {
    if (threadIdx.x == 0) {
      CopyFields<kFloating, kComponents>(state, args.results + blockIdx.x);
    }
    return;
  }
  if (threadIdx.x == 0) {
    StoreNode<kFloating, kComponents>(state, args.chunk_nodes, kMaxFoldBlocks, blockIdx.x);
  }
  if (!IsLastBlock(args.ticket, gridDim.x)) return;
  state = FoldNodes<kFloating, kComponents>(args.chunk_nodes, kMaxFoldBlocks, 0, gridDim.x,
                                            shared.get());
  if (threadIdx.x == 0) CopyFields<kFloating, kComponents>(state, args.results);
}

template <bool kFloating>
const void* FoldPassFor(Components set) {
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  switch (set) {
    case kSumSet:
      return address(&FoldPass<kFloating, kSumSet>);
    case kExtremaSet:
      return address(&FoldPass<kFloating, kExtremaSet>);
    case kMomentsSet:
      return address(&FoldPass<kFloating, kMomentsSet>);
    case kSevenSet:
      return address(&FoldPass<kFloating, kSevenSet>);
    case kDotSet:
      return address(&FoldPass<kFloating, kDotSet>);
    default:
      return address(&FoldPass<kFloating, kAllSet>);
  }
}

}  // namespace

const void* FoldPassKernel(bool floating, Components set) {
  return floating ? FoldPassFor<true>(set) : FoldPassFor<false>(set);
}

}  // namespace reduction::kernels::cuda
