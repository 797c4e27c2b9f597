// The launches around the segment pass: where windows begin, and the folding of long segments.
#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/nodes.cuh"
#include "kernels/cuda/segment_kernels.h"

namespace reduction::kernels::cuda {
namespace {

// A thread a window: the first segment that begins in it or after it, by binary search.
__global__ void FindFirstSegments(const __grid_constant__ SegmentArgs args, uint32_t leaf_lanes) {
  const uint32_t window = blockIdx.x * blockDim.x + threadIdx.x;
  if (window == 0) {
    args.list_sizes[0] = 0;
    args.list_sizes[1] = 0;
  }
  if (window >= args.windows || args.layout.offsets == nullptr) return;
  const uint64_t from = uint64_t{window} * leaf_lanes;
  uint64_t low = 0;
  uint64_t high = args.layout.segments;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (args.layout.offsets[middle] < from) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  args.first_segment[window] = static_cast<uint32_t>(low);
}

// Nodes of the leaves of one segment.
struct SegmentNodes {
  uint64_t* nodes;
  uint64_t windows;
  uint64_t window;  // where the segment begins

  __device__ uint64_t* At(uint64_t leaf) const {
    return nodes + (leaf == 0 ? windows + window : window + leaf);
  }
};

__device__ inline SegmentNodes NodesOf(const SegmentArgs& args, uint64_t segment,
                                       uint32_t leaf_lanes) {
  return {args.nodes, args.windows, args.layout.Begin(segment) / leaf_lanes};
}

__device__ inline uint64_t LeavesOf(const SegmentArgs& args, uint64_t segment,
                                    uint32_t leaf_lanes) {
  return (args.layout.Begin(segment + 1) - args.layout.Begin(segment) + leaf_lanes - 1) /
         leaf_lanes;
}

// Folds each group of leaves on the list, in place of its first node where the segment has several.
// This launch and the next may start before the one before them ends (programmatic dependent
// launch).
template <bool kFloating, Components kComponents>
__global__ void __launch_bounds__(kFoldThreads)
    FoldGroups(const __grid_constant__ SegmentArgs args, uint32_t leaf_lanes) {
  __shared__ WarpStates<kFoldThreads / kWarpThreads> shared;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  const uint64_t stride = 2 * uint64_t{args.windows};
  for (uint32_t i = blockIdx.x; i < args.list_sizes[0]; i += gridDim.x) {
    const uint64_t segment = args.groups[i] >> 24;
    const uint64_t first = (args.groups[i] & 0xffffff) * kFoldNodes;
    const uint64_t leaves = LeavesOf(args, segment, leaf_lanes);
    const SegmentNodes nodes = NodesOf(args, segment, leaf_lanes);
    const uint32_t count = static_cast<uint32_t>(min(leaves - first, uint64_t{kFoldNodes}));
    const State state = FoldLoaded<kFloating, kComponents>(count, shared.get(), [&](uint32_t leaf) {
      return LoadNode<kFloating, kComponents>(nodes.At(first + leaf), stride, 0);
    });
    __syncthreads();  // all nodes have been read
    if (threadIdx.x != 0) continue;
    if (leaves <= kFoldNodes) {
      StoreNode<kFloating, kComponents>(state, args.results + segment, args.layout.segments, 0);
    } else {
      StoreNode<kFloating, kComponents>(state, nodes.At(first), stride, 0);
    }
  }
}

// Folds the groups of each segment that has several.
template <bool kFloating, Components kComponents>
__global__ void __launch_bounds__(kFoldThreads)
    FoldSegments(const __grid_constant__ SegmentArgs args, uint32_t leaf_lanes) {
  __shared__ WarpStates<kFoldThreads / kWarpThreads> shared;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  const uint64_t stride = 2 * uint64_t{args.windows};
  for (uint32_t i = blockIdx.x; i < args.list_sizes[1]; i += gridDim.x) {
    const uint64_t segment = args.parted[i];
    const SegmentNodes nodes = NodesOf(args, segment, leaf_lanes);
    const uint64_t groups = (LeavesOf(args, segment, leaf_lanes) + kFoldNodes - 1) / kFoldNodes;
    const State state = FoldLoaded<kFloating, kComponents>(
        static_cast<uint32_t>(groups), shared.get(), [&](uint32_t group) {
          return LoadNode<kFloating, kComponents>(nodes.At(uint64_t{group} * kFoldNodes), stride,
                                                  0);
        });
    __syncthreads();
    if (threadIdx.x != 0) continue;
    StoreNode<kFloating, kComponents>(state, args.results + segment, args.layout.segments, 0);
  }
}

template <bool kFloating, Components kComponents>
SegmentFolds FoldsFor() {
  return {reinterpret_cast<const void*>(&FoldGroups<kFloating, kComponents>),
          reinterpret_cast<const void*>(&FoldSegments<kFloating, kComponents>)};
}

template <bool kFloating>
SegmentFolds FoldsOf(Components set) {
  switch (set) {
    case kSumSet:
      return FoldsFor<kFloating, kSumSet>();
    case kExtremaSet:
      return FoldsFor<kFloating, kExtremaSet>();
    default:
      return FoldsFor<kFloating, kAllSet>();
  }
}

}  // namespace

const void* FindFirstSegmentsKernel() { return reinterpret_cast<const void*>(&FindFirstSegments); }

SegmentFolds SegmentFoldKernels(bool floating, Components set) {
  return floating ? FoldsOf<true>(set) : FoldsOf<false>(set);
}

}  // namespace reduction::kernels::cuda
