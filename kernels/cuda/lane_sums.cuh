// The sums of a leaf that have to be formed in the fixed order: float64 sums by lane.
#pragma once

#include <cstdint>

#include "kernels/cuda/vector.cuh"
#include "kernels/cuda/warp.cuh"

namespace reduction::kernels::cuda {

// A thread's lanes of one sum. Where the array starts `shift` elements past a 16-byte boundary,
// threads load aligned vectors, so that sums[c] of thread t belongs to lane t * kLanes + c - shift
// (modulo the row): lanes are turned by `shift` until the leaf ends.
template <uint32_t kLanes>
struct LaneSums {
  double sums[kLanes];

  __device__ void Reset() {
#pragma unroll
    for (uint32_t c = 0; c < kLanes; ++c) sums[c] = 0;
  }

  // Turns the lanes back and combines them by adjacent pairs. Every thread gets the sum.
  __device__ double Total(uint32_t shift) {
#pragma unroll 1
    for (uint32_t i = 0; i < shift; ++i) {
      const double next = __shfl_sync(kWholeWarp, sums[0], (WarpLane() + 1) % kWarpThreads);
#pragma unroll
      for (uint32_t c = 0; c + 1 < kLanes; ++c) sums[c] = sums[c + 1];
      sums[kLanes - 1] = next;
    }
#pragma unroll
    for (uint32_t step = 1; step < kLanes; step *= 2) {
#pragma unroll
      for (uint32_t c = 0; c < kLanes; c += 2 * step) sums[c] += sums[c + step];
    }
    return WarpSum(sums[0]);
  }
};

// Sums of one array over the elements of a leaf, for elements whose squares float64 has to round.
template <class T, Components kComponents>
class RealSums {
 public:
  static constexpr bool kHasSum = (kComponents & kSumComponent) != 0 && kIsFloating<T>;
  static constexpr bool kHasSquares = (kComponents & kSquaresComponent) != 0;
  static constexpr bool kHasL1 = (kComponents & kL1Component) != 0;
  static constexpr bool kHasMoments = (kComponents & kMomentsComponent) != 0;

  // `first`: the first element of the leaf that takes part.
  __device__ void Begin(T first) {
    if constexpr (kHasSum) sum_.Reset();
    if constexpr (kHasSquares) squares_.Reset();
    if constexpr (kHasL1) l1_.Reset();
    if constexpr (kHasMoments) {
      shift_ = Widen(first);
      s1_.Reset();
      s2_.Reset();
    }
  }

  // Lane c of the thread takes `x`, unless it is to be skipped: missing, or an ignored NaN.
  __device__ void Add(uint32_t c, double x, bool skip) {
    const double value = skip ? 0.0 : x;
    if constexpr (kHasSum) sum_.sums[c] += value;
    if constexpr (kHasSquares) squares_.sums[c] = fma(value, value, squares_.sums[c]);
    if constexpr (kHasL1) l1_.sums[c] += fabs(value);
    if constexpr (kHasMoments) {
      const double d = skip ? 0.0 : x - shift_;
      s1_.sums[c] += d;
      s2_.sums[c] = fma(d, d, s2_.sums[c]);
    }
  }

  // Sets the fields of the leaf's state; state->count elements took part.
  __device__ void End(uint32_t shift, State* state) {
    if constexpr (kHasSum) state->sum = sum_.Total(shift);
    if constexpr (kHasSquares) state->sum_squares = squares_.Total(shift);
    if constexpr (kHasL1) state->l1 = l1_.Total(shift);
    if constexpr (kHasMoments) {
      state->shift = state->count != 0 ? shift_ : 0;
      state->s1 = s1_.Total(shift);
      const double s2 = s2_.Total(shift);
      if (state->count != 0) state->m2 = CentredSquares(state->s1, s2, state->count);
    }
  }

 private:
  LaneSums<kVectorLanes<T>> sum_, squares_, l1_, s1_, s2_;
  double shift_;
};

// The same for integers of 8 and 16 bits. All of a leaf's sums are integers below 2^53, which
// float64 holds exactly: any order gives the same bits, so one integer a sum will do.
template <class T, Components kComponents>
class SmallIntegerSums {
 public:
  static constexpr bool kHasSquares = (kComponents & kSquaresComponent) != 0;
  static constexpr bool kHasL1 = (kComponents & kL1Component) != 0;
  static constexpr bool kHasMoments = (kComponents & kMomentsComponent) != 0;

  __device__ void Begin(T first) {
    squares_ = 0;
    l1_ = 0;
    s1_ = 0;
    s2_ = 0;
    if constexpr (kHasMoments) shift_ = first;
  }

  // As above; a missing `x` is 0.
  __device__ void Add(T x, bool skip) {
    const int32_t value = x;
    if constexpr (kHasSquares)
      squares_ += static_cast<uint32_t>(value) * static_cast<uint32_t>(value);
    if constexpr (kHasL1) l1_ += static_cast<uint32_t>(value < 0 ? -value : value);
    if constexpr (kHasMoments) {
      const int32_t d = skip ? 0 : value - shift_;
      s1_ += d;
      s2_ += static_cast<uint32_t>(d) * static_cast<uint32_t>(d);
    }
  }

  __device__ void End(State* state) {
    if constexpr (kHasSquares) state->sum_squares = static_cast<double>(WarpSum(squares_));
    if constexpr (kHasL1) state->l1 = static_cast<double>(WarpSum(l1_));
    if constexpr (kHasMoments) {
      state->shift = static_cast<double>(shift_);
      state->s1 = static_cast<double>(static_cast<int32_t>(WarpSum(static_cast<uint32_t>(s1_))));
      const double s2 = static_cast<double>(WarpSum(s2_));
      if (state->count != 0) state->m2 = CentredSquares(state->s1, s2, state->count);
    }
  }

 private:
  // A leaf holds 2^14 elements of 8 bits with squares below 2^16, or 2^13 of 16 bits.
  using Square = std::conditional_t<sizeof(T) == 1, uint32_t, uint64_t>;
  Square squares_, s2_;
  uint32_t l1_;
  int32_t s1_;
  int32_t shift_;
};

}  // namespace reduction::kernels::cuda
