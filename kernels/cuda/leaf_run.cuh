// A warp reduces a run of leaves to the state of the run's node.
#pragma once

#include <cstdint>

#include "kernels/cuda/leaf_counter.cuh"
#include "kernels/cuda/row_ring.cuh"
#include "kernels/cuda/run_sums.cuh"

namespace reduction::kernels::cuda {

// The first of the `count` elements at `leaf` that takes part; `first` is the first of all.
template <class T, bool kIgnoreNan>
__device__ inline T FirstParticipant(const T* leaf, uint32_t count, T first) {
  if constexpr (kIgnoreNan && kIsFloating<T>) {
    for (uint32_t start = 0; DeviceIsNan(first) && start < count; start += kWarpThreads) {
      const uint32_t position = min(start + WarpLane(), count - 1);
      const uint32_t numbers = __ballot_sync(kWholeWarp, !DeviceIsNan(leaf[position]));
      if (numbers != 0) first = leaf[min(start + __ffs(numbers) - 1, count - 1)];
    }
  }
  return first;
}

// Bit c: whether element c of this thread's vector of `row` is one of `count`; lanes are turned by
// `shift`.
template <class T>
__device__ inline uint32_t ValidLanes(uint32_t row, uint32_t shift, uint32_t count) {
  uint32_t valid = 0;
#pragma unroll
  for (uint32_t c = 0; c < kVectorLanes<T>; ++c) {
    const uint32_t lane = (WarpLane() * kVectorLanes<T> + c - shift) % kRowLanes<T>;
    valid |= (row * kRowLanes<T> + lane < count ? 1u : 0u) << c;
  }
  return valid;
}

// A warp's own shared memory.
struct WarpMemory {
  Vector* ring;     // RowRing's
  uint64_t* nodes;  // LeafCounter's, where leaves have an order
  uint32_t levels;
};

// State of the `count` elements at x (and of their products with those at y): a run of
// ceil(count / elements of a leaf) <= 2^kMaxRunLevel leaves. All threads of the warp call; all get
// the state.
template <class T, Components kComponents, bool kIgnoreNan, bool kRealign, uint32_t kRows,
          uint32_t kStages>
__device__ inline State ReduceRun(const T* x, const T* y, uint32_t count, uint64_t first_index,
                                  const WarpMemory& memory) {
  constexpr bool kMoments = (kComponents & kMomentsComponent) != 0;
  constexpr Components kOrdered = kOrderedComponents<T, kComponents>;
  constexpr uint32_t kLeafLanes = kLeafBytes / sizeof(T);
  static_assert(kRowsPerLeaf % kRows == 0);

  State state;
  if (count == 0) return state;
  RowRing<T, kComponents, kRealign, kRows, kStages> ring(x, y, count, memory.ring);
  RunSums<T, kComponents, kIgnoreNan> sums;
  LeafCounter<kIsFloating<T>, kOrdered> counter(memory.nodes, memory.levels);
  const uint32_t complete_rows = count / kRowLanes<T>;
  const uint32_t rows = complete_rows + (count % kRowLanes<T> != 0 ? 1 : 0);
  const uint32_t leaves = (rows + kRowsPerLeaf - 1) / kRowsPerLeaf;
  uint32_t row = 0;
  for (uint32_t index = 0; index < leaves; ++index) {
    const uint32_t leaf_start = index * kLeafLanes;
    const uint32_t leaf_count = min(kLeafLanes, count - leaf_start);
    const uint32_t end_row = min(row + static_cast<uint32_t>(kRowsPerLeaf), rows);
    ring.Advance();
    T first{};
    if constexpr (kMoments) {
      first = FirstParticipant<T, kIgnoreNan>(x + leaf_start, leaf_count, ring.First());
    }
    sums.BeginLeaf(first);
    while (row + kRows <= min(end_row, complete_rows)) {
      Vector xs[kRows];
      Vector ys[kRows];
#pragma unroll
      for (uint32_t k = 0; k < kRows; ++k) {
        xs[k] = ring.X(k);
        ys[k] = ring.Y(k);
      }
#pragma unroll
      for (uint32_t k = 0; k < kRows; ++k) {
        sums.template Add<false>(xs[k], ys[k], row + k, ~0u);
      }
      row += kRows;
      if (row < end_row) ring.Advance();
    }
    for (uint32_t k = 0; row < end_row; ++row, ++k) {
      const uint32_t valid = ValidLanes<T>(row, ring.shift(), count);
      sums.template Add<true>(KeepValid<T>(ring.X(k), valid), KeepValid<T>(ring.Y(k), valid), row,
                              valid);
    }
    State leaf;
    sums.EndLeaf(leaf_count, ring.shift(), &leaf);
    if constexpr (kOrdered != 0) counter.Push(index, leaf);
  }
  ring.End();
  if constexpr (kOrdered != 0) {
    state = counter.Total(leaves);
  }
  sums.EndRun(x, count, first_index, ring.shift(), &state);
  return state;
}

}  // namespace reduction::kernels::cuda
