// Algorithm ATOMIC: blocks add their states with atomics, in any order.
#pragma once

#include <cstdint>

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/pass_args.h"
#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

// One thread adds `state`. A floating-point sum is rounded in the order in which blocks come;
// everything else is exact.
template <bool kFloating, Components kComponents, bool kIgnoreNan>
__device__ inline void AddToCell(const State& state, AtomicCell* cell) {
  const auto add = [](uint64_t* to, uint64_t value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  };
  if constexpr ((kComponents & (kSumComponent | kDotComponent)) != 0) {
    if constexpr (kFloating) {
      atomicAdd(&cell->sum, state.sum);
    } else {
      add(&cell->low_half, static_cast<uint32_t>(state.integer_sum.low));
      add(&cell->high_half,
          (static_cast<uint64_t>(state.integer_sum.high) << 32) | (state.integer_sum.low >> 32));
    }
  }
  if constexpr ((kComponents & kExtremaComponent) != 0) {
    atomicMin(reinterpret_cast<long long*>(&cell->min_key), static_cast<long long>(state.min_key));
    atomicMax(reinterpret_cast<long long*>(&cell->max_key), static_cast<long long>(state.max_key));
  }
  if constexpr (kIgnoreNan) add(&cell->count, state.count);
}

// Takes the state out of a cell that all blocks have added to and puts identities back. `count` is
// the number of elements.
template <bool kIgnoreNan>
__device__ inline State TakeFromCell(AtomicCell* cell, uint64_t count) {
  const auto take = [](auto* from, auto identity) {
    return BitCast<decltype(identity)>(atomicExch(reinterpret_cast<unsigned long long*>(from),
                                                  BitCast<unsigned long long>(identity)));
  };
  State state;
  state.sum = take(&cell->sum, 0.0);
  const uint64_t low_half = take(&cell->low_half, uint64_t{0});
  state.integer_sum = Int128::FromHalves(low_half, take(&cell->high_half, int64_t{0}));
  state.min_key = take(&cell->min_key, kHighestKey);
  state.max_key = take(&cell->max_key, kLowestKey);
  const uint64_t participants = take(&cell->count, uint64_t{0});
  state.count = kIgnoreNan ? participants : count;
  return state;
}

}  // namespace reduction::kernels::cuda
