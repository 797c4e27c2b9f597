// Leaves of a warp's run, combined in the order of the binary counter.
#pragma once

#include <cstdint>

#include "kernels/cuda/nodes.cuh"

namespace reduction::kernels::cuda {

// All threads of the warp call, with the same states. Keeps a node a level in shared memory.
template <bool kFloating, Components kComponents>
class LeafCounter {
 public:
  // `memory`: the words of a state for each of `levels` levels, of the warp's own; for a run of at
  // most 2^(levels - 1) leaves.
  __device__ LeafCounter(uint64_t* memory, uint32_t levels) : memory_(memory), levels_(levels) {}

  // Adds leaf number `index`, counted from 0.
  __device__ void Push(uint32_t index, State state) {
    uint32_t level = 0;
    for (; (index >> level & 1) != 0; ++level) {
      state = Combine<kFloating, kComponents>(Node(level), state);
    }
    __syncwarp();  // all have read what is replaced
    if (WarpLane() == 0) StoreNode<kFloating, kComponents>(state, memory_, levels_, level);
    __syncwarp();
  }

  // The state of the `leaves` leaves pushed, in every thread. leaves >= 1.
  __device__ State Total(uint32_t leaves) const {
    uint32_t level = __ffs(leaves) - 1;
    State total = Node(level);
    for (++level; (leaves >> level) != 0; ++level) {
      if ((leaves >> level & 1) == 0) continue;
      total = Combine<kFloating, kComponents>(Node(level), total);
    }
    __syncwarp();  // before the warp's next run
    return total;
  }

 private:
  __device__ State Node(uint32_t level) const {
    State state;
    const uint64_t* word = memory_ + level;
    VisitFields<kFloating, kComponents>(state, [&word, this](auto& field) {
      field = BitCast<std::remove_reference_t<decltype(field)>>(*word);
      word += levels_;
    });
    return state;
  }

  uint64_t* memory_;
  uint32_t levels_;
};

}  // namespace reduction::kernels::cuda
