// Rows of an array on their way from device memory, through a ring in shared memory.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/cuda/pass_args.h"
#include "kernels/cuda/vector.cuh"
#include "kernels/cuda/warp.cuh"

namespace reduction::kernels::cuda {

// A warp reads an array's rows in batches of kRows. Copies into the ring, which holds kStages
// batches, are asynchronous: while one is read and the next has come, the others are on their way
// and occupy no registers.
//
// Rows are copied as aligned vectors. Where the array starts at an odd place, threads get
//  - unless kRealign: elements of aligned vectors. `shift` is how many elements the array's first
//    one lies past a 16-byte boundary, so that thread 0's first `shift` elements of a vector end
//    the row before. Thread 0 takes them from its vector of the next row, so that every thread has
//    elements of one row, with lanes turned by `shift` (LaneSums). A dot's arrays have one shift.
//  - where kRealign (a dot whose arrays lie differently): the elements of their own lanes, out of
//    two neighbouring vectors. The shift is 0.
// The aligned 16-byte blocks that hold the first and the last element must be readable.
template <class T, Components kComponents, bool kRealign, uint32_t kRows, uint32_t kStages>
class RowRing {
  static constexpr bool kDot = kComponents == kDotComponent;
  static constexpr uint32_t kBatchVectors = kRows * kRowVectors;  // of an array
  static constexpr uint32_t kRingVectors = kStages * kBatchVectors;
  static_assert(kStages >= 3);

 public:
  static constexpr uint32_t kVectors = kRingVectors * (kDot ? 2 : 1);

  // `count` elements at x, and at y for a dot. `memory`: kVectors vectors of the warp's own.
  __device__ RowRing(const T* x, const T* y, uint32_t count, Vector* memory) {
    x_.Begin(x, count, memory);
    whole_rows_ = x_.WholeRows(count);
    if constexpr (kDot) {
      y_.Begin(y, count, memory + kRingVectors);
      whole_rows_ = min(whole_rows_, y_.WholeRows(count));
    }
    shift_ = kRealign ? 0 : x_.skew / sizeof(T);
    turned_ = LowBytesMask(WarpLane() == 0 ? shift_ * sizeof(T) : 0);
    end_row_ = (count + kRowLanes<T> - 1) / kRowLanes<T> + 1;  // the row after is looked into
#pragma unroll 1
    for (uint32_t i = 0; i + 1 < kStages; ++i) CopyBatch();
  }

  __device__ uint32_t shift() const { return shift_; }

  // Waits for the next batch (at first for the first one) and the one after it, and starts another
  // on its way.
  __device__ void Advance() {
    __pipeline_wait_prior(kStages - 3);
    __syncwarp();  // for what other threads copied, and until they have read what is replaced
    current_ = following_;
    following_ = After(current_);
    CopyBatch();
  }

  // After the last Advance(): the memory may be used again.
  __device__ void End() {
    __pipeline_wait_prior(0);
    __syncwarp();
  }

  // This thread's elements of row k of the batch; vectors without any element are zero.
  __device__ Vector X(uint32_t k) const { return Elements(x_, k); }
  __device__ Vector Y(uint32_t k) const {
    if constexpr (kDot) return Elements(y_, k);
    return Vector{};
  }

  // The first element of the batch, of a set of one array.
  __device__ T First() const {
    return reinterpret_cast<const T*>(x_.ring - WarpLane() + current_)[shift_];
  }

 private:
  struct Source {
    const Vector* from;  // this thread's vector of the first row of the next batch to copy
    Vector* ring;        // this thread's vector of its first row
    uint32_t skew;       // bytes past a 16-byte boundary
    uint32_t rows;       // how many rows have this thread's vector

    __device__ void Begin(const T* x, uint32_t count, Vector* memory) {
      const uintptr_t address = reinterpret_cast<uintptr_t>(x);
      skew = address % sizeof(Vector);
      from = reinterpret_cast<const Vector*>(address - skew) + WarpLane();
      ring = memory + WarpLane();
      const int64_t left = static_cast<int64_t>(count) + skew / sizeof(T) -
                           static_cast<int64_t>(WarpLane() * kVectorLanes<T>);
      rows = left <= 0 ? 0 : static_cast<uint32_t>((left + kRowLanes<T> - 1) / kRowLanes<T>);
    }
    // Rows that have all threads' vectors.
    __device__ uint32_t WholeRows(uint32_t count) const {
      return static_cast<uint32_t>((uint64_t{count} + skew / sizeof(T)) / kRowLanes<T>);
    }
    template <bool kWhole>
    __device__ void CopyBatch(uint32_t row, uint32_t to) {
#pragma unroll
      for (uint32_t k = 0; k < kRows; ++k) {
        const uint32_t missing = kWhole || row + k < rows ? 0 : sizeof(Vector);
        __pipeline_memcpy_async(ring + to + k * kRowVectors, from + k * kRowVectors, sizeof(Vector),
                                missing);
      }
      from += kBatchVectors;
    }
  };

  __device__ uint32_t After(uint32_t batch) const {
    const uint32_t after = batch + kBatchVectors;
    return after == kRingVectors ? 0 : after;
  }

  __device__ void CopyBatch() {
    if (copied_rows_ + kRows <= whole_rows_) {
      x_.template CopyBatch<true>(copied_rows_, copy_to_);
      if constexpr (kDot) y_.template CopyBatch<true>(copied_rows_, copy_to_);
    } else if (copied_rows_ < end_row_) {
      x_.template CopyBatch<false>(copied_rows_, copy_to_);
      if constexpr (kDot) y_.template CopyBatch<false>(copied_rows_, copy_to_);
    }
    __pipeline_commit();
    copied_rows_ += kRows;
    copy_to_ = After(copy_to_);
  }

  __device__ Vector Elements(const Source& source, uint32_t k) const {
    const uint32_t at = current_ + k * kRowVectors;
    const Vector own = source.ring[at];
    if constexpr (kRealign) {
      const uint32_t next = at + WarpLane() + 1 == kRingVectors ? at + 1 - kRingVectors : at + 1;
      return Realign<sizeof(T)>(own, source.ring[static_cast<int32_t>(next)], source.skew);
    } else {
      if (shift_ == 0) return own;
      const uint32_t next_row = k + 1 < kRows ? at + kRowVectors : following_;
      return Blend(own, source.ring[next_row], turned_);
    }
  }

  Source x_;
  Source y_;
  uint32_t shift_;
  uint32_t whole_rows_;       // rows that have all vectors
  uint32_t end_row_;          // rows from here on are not looked into
  uint32_t copied_rows_ = 0;  // including those that do not exist
  uint32_t copy_to_ = 0;      // where in the rings the next batch goes
  uint32_t current_ = 0;      // where the batch is that is read
  uint32_t following_ = 0;    // where the one after it is
  Vector turned_;
};

}  // namespace reduction::kernels::cuda
