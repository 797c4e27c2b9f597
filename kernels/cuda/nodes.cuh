// Nodes in device memory, and how a block folds them.
#pragma once

#include <cstdint>

#include "kernels/cuda/pass_args.h"
#include "kernels/cuda/warp.cuh"

namespace reduction::kernels::cuda {

// One thread stores the node of unit `unit`; word w of node u is at nodes[w * stride + u].
template <bool kFloating, Components kComponents>
__device__ inline void StoreNode(State state, uint64_t* nodes, uint64_t stride, uint32_t unit) {
  uint64_t* word = nodes + unit;
  VisitFields<kFloating, kComponents>(state, [&word, stride](auto& field) {
    *word = BitCast<uint64_t>(field);
    word += stride;
  });
}

// Bypasses the first-level cache: the nodes may be of blocks of the same launch.
template <bool kFloating, Components kComponents>
__device__ inline State LoadNode(const uint64_t* nodes, uint64_t stride, uint32_t unit) {
  State state;
  const uint64_t* word = nodes + unit;
  VisitFields<kFloating, kComponents>(state, [&word, stride](auto& field) {
    field = BitCast<std::remove_reference_t<decltype(field)>>(__ldcg(word));
    word += stride;
  });
  return state;
}

// Room for a state a warp in shared memory.
struct BlockStates {
  alignas(State) unsigned char bytes[kMaxBlockWarps * sizeof(State)];
  __device__ State& operator[](uint32_t warp) { return reinterpret_cast<State*>(bytes)[warp]; }
};

// Combines the states that thread 0 of each of the first `warps` warps passes, in their order.
// All threads of the block call; thread 0 gets the result.
template <bool kFloating, Components kComponents>
__device__ inline State BlockTree(State state, uint32_t warps, BlockStates* shared) {
  const uint32_t warp = threadIdx.x / kWarpThreads;
  if (WarpLane() == 0) (*shared)[warp] = state;
  __syncthreads();
  if (warp == 0) {
    state = (*shared)[WarpLane() < warps ? WarpLane() : 0];
    state = WarpTree<kFloating, kComponents>(state, warps);
  }
  return state;
}

// Folds nodes first to first + count - 1, aligned runs of equal length but for the last, in the
// order of the binary counter. 1 <= count <= kFoldNodesPerThread * threads. All threads of the
// block call; thread 0 gets the state.
template <bool kFloating, Components kComponents>
__device__ inline State FoldNodes(const uint64_t* nodes, uint64_t stride, uint32_t first,
                                  uint32_t count, BlockStates* shared) {
  static_assert(kFoldNodesPerThread == 4);
  const auto load = [=](uint32_t i) {
    return LoadNode<kFloating, kComponents>(nodes, stride, first + min(i, count - 1));
  };
  const uint32_t begin = threadIdx.x * kFoldNodesPerThread;
  const State a = load(begin);
  const State b = load(begin + 1);
  const State c = load(begin + 2);
  const State d = load(begin + 3);
  State state = a;
  if (begin + 1 < count) state = Combine<kFloating, kComponents>(a, b);
  if (begin + 3 < count) {
    state = Combine<kFloating, kComponents>(state, Combine<kFloating, kComponents>(c, d));
  } else if (begin + 2 < count) {
    state = Combine<kFloating, kComponents>(state, c);
  }
  const uint32_t threads = (count + kFoldNodesPerThread - 1) / kFoldNodesPerThread;
  const uint32_t warp_begin = threadIdx.x / kWarpThreads * kWarpThreads;
  if (warp_begin < threads) {
    state = WarpTree<kFloating, kComponents>(state, min(threads - warp_begin, kWarpThreads));
  }
  return BlockTree<kFloating, kComponents>(state, (threads + kWarpThreads - 1) / kWarpThreads,
                                           shared);
}

// Whether this is the last block of the launch to call. All threads of all blocks call once; what
// they wrote before is then visible to the last block. The last block must set *ticket to 0.
__device__ inline bool IsLastBlock(uint32_t* ticket) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) {
    // Releases what the block's threads wrote before the barrier, and acquires for those after the
    // next one what other blocks have released.
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(ticket))
                 : "memory");
    is_last = before == gridDim.x - 1;
  }
  __syncthreads();
  return is_last;
}

}  // namespace reduction::kernels::cuda
