// A warp reduces a run of leaves to the state of the run's node.
#pragma once

#include <cstdint>

#include "kernels/cuda/pass_args.h"
#include "kernels/cuda/run_sums.cuh"
#include "kernels/cuda/tuning.h"

namespace reduction::kernels::cuda {

// Where a thread finds its vectors. Rows are read as aligned vectors: `shift` is how many elements
// the first one lies past a 16-byte boundary, so that thread 0's first `shift` elements of a vector
// end the row before. Thread 0 takes them from the vector of the next row, so that every thread has
// elements of one row, with lanes turned by `shift` (LaneSums).
// The aligned 16-byte blocks that hold the first and the last element must be readable.
template <class T, Components kComponents, bool kRealign, uint32_t kRows>
class RowReader {
  static constexpr bool kDot = kComponents == kDotComponent;

 public:
  // `count` elements at x, and at y for a dot. Both have the same shift unless kRealign; then y's
  // is larger than x's.
  __device__ RowReader(const T* x, const T* y, uint32_t count) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(x);
    const uint32_t skew = address % sizeof(Vector);
    shift_ = skew / sizeof(T);
    x_ = reinterpret_cast<const Vector*>(address - skew) + WarpLane();
    if constexpr (kDot) {
      const uintptr_t y_address = reinterpret_cast<uintptr_t>(y);
      const uint32_t y_skew = y_address % sizeof(Vector);
      y_ = reinterpret_cast<const Vector*>(y_address - y_skew) + WarpLane();
      if constexpr (kRealign) {
        realign_ = y_skew - skew;
        y_shift_ = y_skew / sizeof(T);
      }
    }
    const int64_t end = count;
    rows_ = RowsThatStartBefore(end + shift_);
    if constexpr (kRealign) y_rows_ = RowsThatStartBefore(end + y_shift_ - kVectorLanes<T>);
    turned_ = LowBytesMask(WarpLane() == 0 ? skew : 0);
  }

  __device__ uint32_t shift() const { return shift_; }

  struct Row {
    Vector x;
    Vector y;       // of a dot
    Vector y_next;  // the 16 bytes after y, where kRealign
  };
  struct Batch {
    Row row[kRows];
  };

  // Rows first to first + kRows - 1. kComplete: all elements of the rows exist; otherwise vectors
  // without any are zero.
  template <bool kComplete>
  __device__ void Load(uint32_t first, Batch* batch) const {
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) batch->row[k] = LoadRow<kComplete>(first + k);
  }

  // This thread's elements of a row, given the row after it.
  __device__ Vector X(const Row& row, const Row& next) const {
    return shift_ == 0 ? row.x : Blend(row.x, next.x, turned_);
  }
  __device__ Vector Y(const Row& row, const Row& next) const {
    if constexpr (!kDot) return Vector{};
    Vector y = row.y;
    if constexpr (kRealign) y = Realign(row.y, row.y_next, realign_);
    if (shift_ == 0) return y;
    Vector after = next.y;
    if constexpr (kRealign) after = Realign(next.y, next.y_next, realign_);
    return Blend(y, after, turned_);
  }

 private:
  // How many rows of vectors have this thread's element 0 before element `end` of the frame.
  __device__ static uint32_t RowsThatStartBefore(int64_t end) {
    const int64_t left = end - static_cast<int64_t>(WarpLane() * kVectorLanes<T>);
    return left <= 0 ? 0 : static_cast<uint32_t>((left + kRowLanes<T> - 1) / kRowLanes<T>);
  }

  template <bool kComplete>
  __device__ Row LoadRow(uint32_t r) const {
    Row row{};
    const uint32_t at = r * kRowVectors;
    if (kComplete || r < rows_) {
      row.x = LoadStreaming(x_ + at);
      if constexpr (kDot) row.y = LoadStreaming(y_ + at);
    }
    if constexpr (kRealign) {
      if (kComplete || r < y_rows_) row.y_next = LoadStreaming(y_ + at + 1);
    }
    return row;
  }

  const Vector* x_;
  const Vector* y_ = nullptr;
  uint32_t shift_;
  uint32_t y_shift_ = 0;
  uint32_t realign_ = 0;  // bytes that y lies further past its boundary than x
  uint32_t rows_;
  uint32_t y_rows_ = 0;
  Vector turned_;
};

// Pending nodes of a warp's run, one a level, in shared memory.
struct WarpNodes {
  alignas(State) unsigned char bytes[(kMaxRunLevel + 1) * sizeof(State)];
  __device__ State& operator[](uint32_t level) { return reinterpret_cast<State*>(bytes)[level]; }
};

// Leaves in the order of the binary counter. All threads of the warp call, with the same state.
template <bool kFloating, Components kComponents>
class WarpCounter {
 public:
  explicit __device__ WarpCounter(WarpNodes* nodes) : nodes_(*nodes) {}

  // Adds leaf number `index`, counted from 0.
  __device__ void Push(uint32_t index, State state) {
    uint32_t level = 0;
    for (; (index >> level & 1) != 0; ++level) {
      const State left = nodes_[level];
      state = Combine<kFloating, kComponents>(left, state);
    }
    __syncwarp();  // all have read what is replaced
    if (WarpLane() == 0) CopyFields<kFloating, kComponents>(state, &nodes_[level]);
    __syncwarp();
  }

  // The state of the `leaves` leaves pushed, in every thread. leaves >= 1.
  __device__ State Total(uint32_t leaves) const {
    uint32_t level = __ffs(leaves) - 1;
    State total = nodes_[level];
    for (++level; (leaves >> level) != 0; ++level) {
      if ((leaves >> level & 1) == 0) continue;
      const State left = nodes_[level];
      total = Combine<kFloating, kComponents>(left, total);
    }
    __syncwarp();  // before the warp's next run
    return total;
  }

 private:
  WarpNodes& nodes_;
};

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

// State of the `count` elements at x (and of their products with those at y): a run of
// ceil(count / elements of a leaf) <= 2^kMaxRunLevel leaves. All threads of the warp call; all get
// the state. `nodes`: the warp's own.
template <class T, Components kComponents, bool kIgnoreNan, bool kRealign>
__device__ inline State ReduceRun(const T* x, const T* y, uint32_t count, uint64_t first_index,
                                  WarpNodes* nodes) {
  constexpr bool kMoments = (kComponents & kMomentsComponent) != 0;
  constexpr Components kOrdered = kOrderedComponents<T, kComponents>;
  constexpr uint32_t kRows = RowsInFlight(kComponents, sizeof(T), kRealign);
  constexpr uint32_t kLeafLanes = kLeafBytes / sizeof(T);
  static_assert(kRowsPerLeaf % kRows == 0);
  using Reader = RowReader<T, kComponents, kRealign, kRows>;

  const Reader reader(x, y, count);
  RunSums<T, kComponents, kIgnoreNan> sums;
  WarpCounter<kIsFloating<T>, kOrdered> counter(nodes);
  const uint32_t complete_rows = count / kRowLanes<T>;
  const uint32_t rows = complete_rows + (count % kRowLanes<T> != 0 ? 1 : 0);
  typename Reader::Batch batch;
  typename Reader::Batch next_batch;
  T next_first{};
  State state;

  if (rows == 0) return state;
  if (kRows <= complete_rows) {
    reader.template Load<true>(0, &batch);
  } else {
    reader.template Load<false>(0, &batch);
  }
  if constexpr (kMoments) next_first = x[0];
  for (uint32_t row = 0; row < rows;) {
    const uint32_t leaf_start = row / kRowsPerLeaf * kLeafLanes;
    const uint32_t leaf_count = min(kLeafLanes, count - leaf_start);
    if (row % kRowsPerLeaf == 0) {
      if constexpr (kMoments) {
        next_first = FirstParticipant<T, kIgnoreNan>(x + leaf_start, leaf_count, next_first);
      }
      sums.BeginLeaf(next_first);
    }
    // The next batch is on its way while this one is added.
    const uint32_t next = row + kRows;
    if (next + kRows <= complete_rows) {
      reader.template Load<true>(next, &next_batch);
    } else if (next < rows || reader.shift() != 0) {
      reader.template Load<false>(next, &next_batch);
    }
    if constexpr (kMoments) {
      if (next % kRowsPerLeaf == 0 && next < rows) next_first = x[next * kRowLanes<T>];
    }
    if (next <= complete_rows) {
#pragma unroll
      for (uint32_t k = 0; k < kRows; ++k) {
        const typename Reader::Row& after = k + 1 < kRows ? batch.row[k + 1] : next_batch.row[0];
        sums.template Add<false>(reader.X(batch.row[k], after), reader.Y(batch.row[k], after),
                                 row + k, ~0u);
      }
    } else {
#pragma unroll 1
      for (uint32_t r = row; r < rows; ++r) {
        uint32_t valid = 0;
#pragma unroll
        for (uint32_t c = 0; c < kVectorLanes<T>; ++c) {
          const uint32_t lane = (WarpLane() * kVectorLanes<T> + c - reader.shift()) % kRowLanes<T>;
          valid |= (r * kRowLanes<T> + lane < count ? 1u : 0u) << c;
        }
        const typename Reader::Row current = batch.row[0];
#pragma unroll
        for (uint32_t k = 0; k + 1 < kRows; ++k) batch.row[k] = batch.row[k + 1];
        batch.row[kRows - 1] = next_batch.row[0];
        const Vector xs = KeepValid<T>(reader.X(current, batch.row[0]), valid);
        const Vector ys = KeepValid<T>(reader.Y(current, batch.row[0]), valid);
        sums.template Add<true>(xs, ys, r, valid);
      }
    }
    row = min(next, rows);
    if (row % kRowsPerLeaf == 0 || row == rows) {
      State leaf;
      sums.EndLeaf(leaf_count, reader.shift(), &leaf);
      if constexpr (kOrdered != 0) counter.Push((row - 1) / kRowsPerLeaf, leaf);
    }
    batch = next_batch;
  }
  if constexpr (kOrdered != 0) {
    state = counter.Total((rows + kRowsPerLeaf - 1) / kRowsPerLeaf);
  }
  sums.EndRun(x, count, first_index, reader.shift(), &state);
  return state;
}

}  // namespace reduction::kernels::cuda
