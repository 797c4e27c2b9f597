// Nodes in device memory, and how a block folds them.
#pragma once

#include <cstdint>

#include "kernels/cuda/pass_args.h"
#include "kernels/cuda/warp.cuh"

namespace reduction::kernels::cuda {

// Where a node's fields go: word w to first[w * stride], or, as a State, to their places in it.
struct NodePlace {
  uint64_t* first;
  uint64_t stride;  // 0: a State

  // One thread stores the field that is word `word` of a node, `offset` bytes into a State.
  template <class Field>
  __device__ void Store(uint32_t word, uint32_t offset, Field field) const {
    first[stride == 0 ? offset / sizeof(uint64_t) : word * stride] = BitCast<uint64_t>(field);
  }
};

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
template <uint32_t kWarps>
struct WarpStates {
  alignas(State) unsigned char bytes[kWarps * sizeof(State)];
  __device__ State* get() { return reinterpret_cast<State*>(bytes); }
};

// Combines the states that thread 0 of each of the first `warps` warps passes, in their order.
// All threads of the block call; thread 0 gets the result. `shared` has room for `warps` states.
template <bool kFloating, Components kComponents>
__device__ inline State BlockTree(State state, uint32_t warps, State* shared) {
  if (warps == 1) return state;
  const uint32_t warp = threadIdx.x / kWarpThreads;
  if (WarpLane() == 0 && warp < warps) shared[warp] = state;
  __syncthreads();
  if (warp == 0) {
    state = shared[WarpLane() < warps ? WarpLane() : 0];
    state = WarpTree<kFloating, kComponents>(state, warps);
  }
  return state;
}

// Folds `count` nodes, aligned runs of equal length but for the last, in the order of the binary
// counter; load(i) gives node i. 1 <= count <= kFoldNodesPerThread * threads. All threads of the
// block call; thread 0 gets the state.
template <bool kFloating, Components kComponents, class Load>
__device__ inline State FoldLoaded(uint32_t count, State* shared, const Load& load) {
  constexpr uint32_t kPerThread = kFoldNodesPerThread;
  State states[kPerThread];
  const uint32_t begin = threadIdx.x * kPerThread;
#pragma unroll
  for (uint32_t i = 0; i < kPerThread; ++i) states[i] = load(min(begin + i, count - 1));
#pragma unroll
  for (uint32_t step = 1; step < kPerThread; step *= 2) {
#pragma unroll
    for (uint32_t i = 0; i < kPerThread; i += 2 * step) {
      if (begin + i + step < count) {
        states[i] = Combine<kFloating, kComponents>(states[i], states[i + step]);
      }
    }
  }
  State state = states[0];
  const uint32_t threads = (count + kPerThread - 1) / kPerThread;
  const uint32_t warp_begin = threadIdx.x / kWarpThreads * kWarpThreads;
  if (warp_begin < threads) {
    state = WarpTree<kFloating, kComponents>(state, min(threads - warp_begin, kWarpThreads));
  }
  return BlockTree<kFloating, kComponents>(state, (threads + kWarpThreads - 1) / kWarpThreads,
                                           shared);
}

// The same of nodes first to first + count - 1.
template <bool kFloating, Components kComponents>
__device__ inline State FoldNodes(const uint64_t* nodes, uint64_t stride, uint32_t first,
                                  uint32_t count, State* shared) {
  return FoldLoaded<kFloating, kComponents>(count, shared, [=](uint32_t i) {
    return LoadNode<kFloating, kComponents>(nodes, stride, first + i);
  });
}

// Whether this is the last of `blocks` blocks to call with this ticket, which is 0 at first. All
// threads of the block call once; what the other blocks wrote before is then visible to the last
// one, and the ticket is 0 again.
__device__ inline bool IsLastBlock(uint32_t* ticket, uint32_t blocks) {
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
    is_last = before == blocks - 1;
    if (is_last) *ticket = 0;
  }
  __syncthreads();
  return is_last;
}

}  // namespace reduction::kernels::cuda
