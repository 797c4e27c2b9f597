// The fixed order: which partial results combine with which, in what order and by what arithmetic.
// Both backends and the client compile this header, so that a result is a function of the values,
// their count, their type and the options alone.
//
// - A row is 512 bytes of consecutive elements; a lane is a position in the row.
// - A leaf is kRowsPerLeaf rows, counted from the first element of the array. Each lane accumulates
//   its elements down the rows of the leaf, starting at the identity; missing elements change
//   nothing. Then lanes combine in an adjacent-pair tree: 1, 2, 4, … lanes apart.
// - Leaves combine as a binary counter: node (k, j) is Combine(node (k-1, 2j), node (k-1, 2j+1))
//   and covers leaves j*2^k to (j+1)*2^k - 1. What is left over at the end is folded from the
//   right to the left.
//
// The order of integer sums, counts and extrema is free: any order gives the same value.
#pragma once

#ifdef __FAST_MATH__
#error "the numeric contract does not hold under -ffast-math"
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/element_type.h"
#include "kernels/statistics.h"

namespace reduction::kernels {

inline constexpr uint32_t kOrderVersion = 1;
inline constexpr size_t kRowBytes = 512;
inline constexpr size_t kRowsPerLeaf = 32;
inline constexpr size_t kLeafBytes = kRowBytes * kRowsPerLeaf;

// 128-bit two's complement, for exact sums of up to 2^64 integers of 64 bits.
struct Int128 {
  uint64_t low = 0;
  int64_t high = 0;

  REDUCTION_HOST_DEVICE friend Int128 operator+(const Int128& a, const Int128& b) {
    Int128 sum;
    sum.low = a.low + b.low;
    sum.high = static_cast<int64_t>(static_cast<uint64_t>(a.high) + static_cast<uint64_t>(b.high) +
                                    (sum.low < a.low ? 1 : 0));
    return sum;
  }
  REDUCTION_HOST_DEVICE static Int128 FromInt64(int64_t x) {
    Int128 r;
    r.low = static_cast<uint64_t>(x);
    r.high = x < 0 ? -1 : 0;
    return r;
  }
  REDUCTION_HOST_DEVICE static Int128 FromUint64(uint64_t x) {
    Int128 r;
    r.low = x;
    return r;
  }
  // high_half * 2^32 + low_half: the sum of many 64-bit integers split at bit 32.
  REDUCTION_HOST_DEVICE static Int128 FromHalves(uint64_t low_half, int64_t high_half) {
    Int128 shifted;
    shifted.low = static_cast<uint64_t>(high_half) << 32;
    shifted.high = high_half >> 32;
    return shifted + FromUint64(low_half);
  }
};

inline constexpr uint64_t kNoIndex = UINT64_MAX;
// Keys of a NaN under kPropagate: below (min) and above (max) every other float's key. They are
// also the identities of the opposite extremum.
inline constexpr int64_t kLowestKey = INT64_MIN;
inline constexpr int64_t kHighestKey = INT64_MAX;

// What is known of a run of elements: the value of a tree node. Default-constructed, it is the
// state of no elements. Components that a plan does not ask for hold unspecified values.
struct State {
  uint64_t count = 0;      // elements that took part: under kIgnore without the NaNs
  double sum = 0;          // of floating-point elements or products
  Int128 integer_sum;      // of integer elements or products
  double sum_squares = 0;  // sum of x*x, each step one fused multiply-add
  double l1 = 0;           // sum of |x|
  uint64_t nan_count = 0;
  uint64_t nonzero_count = 0;     // elements != 0; a NaN counts unless it is ignored
  int64_t min_key = kHighestKey;  // OrderKey of the smallest element, kLowestKey for a NaN
  int64_t max_key = kLowestKey;   // OrderKey of the largest element, kHighestKey for a NaN
  uint64_t argmin = kNoIndex;     // index in the array of the first element that holds the minimum
  uint64_t argmax = kNoIndex;
  // Moments about a shift (Chan, Golub, LeVeque 1983, "Algorithms for Computing the Sample
  // Variance"): shift = a participating element, s1 = sum of (x - shift), m2 = sum of squared
  // deviations from the mean.
  double shift = 0;
  double s1 = 0;
  double m2 = 0;
};

// Turns a leaf's sums about `shift` into moments. s2 = sum of (x - shift)^2, each step
// d = x - shift, one fused multiply-add fma(d, d, s2). count > 0.
REDUCTION_HOST_DEVICE inline double CentredSquares(double s1, double s2, uint64_t count) {
  return s2 - s1 * s1 / static_cast<double>(count);
}

namespace detail {

REDUCTION_HOST_DEVICE inline void CombineMoments(const State& a, const State& b, State* out) {
  if (a.count == 0 || b.count == 0) {
    const State& only = a.count == 0 ? b : a;
    out->shift = only.shift;
    out->s1 = only.s1;
    out->m2 = only.m2;
    return;
  }
  const double na = static_cast<double>(a.count);
  const double nb = static_cast<double>(b.count);
  const double shift_difference = b.shift - a.shift;
  const double delta = shift_difference + (b.s1 / nb - a.s1 / na);
  out->shift = a.shift;
  out->s1 = (a.s1 + b.s1) + nb * shift_difference;
  out->m2 = (a.m2 + b.m2) + delta * delta * (na * nb / (na + nb));
}

}  // namespace detail

// The state of a's elements followed by b's. kFloating and kComponents leave out what a plan does
// not need; the components that stay have the same bits whatever is left out.
template <bool kFloating, Components kComponents>
REDUCTION_HOST_DEVICE inline State Combine(const State& a, const State& b) {
  State r;
  if constexpr ((kComponents & kMomentsComponent) != 0) detail::CombineMoments(a, b, &r);
  r.count = a.count + b.count;
  if constexpr ((kComponents & (kSumComponent | kDotComponent)) != 0) {
    if constexpr (kFloating) {
      r.sum = a.sum + b.sum;
    } else {
      r.integer_sum = a.integer_sum + b.integer_sum;
    }
  }
  if constexpr ((kComponents & kSquaresComponent) != 0)
    r.sum_squares = a.sum_squares + b.sum_squares;
  if constexpr ((kComponents & kL1Component) != 0) r.l1 = a.l1 + b.l1;
  if constexpr ((kComponents & kNanCountComponent) != 0) r.nan_count = a.nan_count + b.nan_count;
  if constexpr ((kComponents & kNonzeroComponent) != 0) {
    r.nonzero_count = a.nonzero_count + b.nonzero_count;
  }
  if constexpr ((kComponents & kExtremaComponent) != 0) {
    r.min_key = b.min_key < a.min_key ? b.min_key : a.min_key;
    r.max_key = b.max_key > a.max_key ? b.max_key : a.max_key;
    if constexpr ((kComponents & kArgComponent) != 0) {
      const bool min_tie = a.min_key == b.min_key;
      const bool max_tie = a.max_key == b.max_key;
      const uint64_t first_min = b.argmin < a.argmin ? b.argmin : a.argmin;
      const uint64_t first_max = b.argmax < a.argmax ? b.argmax : a.argmax;
      r.argmin = min_tie ? first_min : (b.min_key < a.min_key ? b.argmin : a.argmin);
      r.argmax = max_tie ? first_max : (b.max_key > a.max_key ? b.argmax : a.argmax);
    }
  }
  return r;
}

// An aligned run of 2^level leaves that starts at leaf first_leaf, a multiple of 2^level.
struct LeafRun {
  uint64_t first_leaf;
  unsigned level;
};

// The longest aligned run that starts at first_leaf and ends at or before end_leaf, but not longer
// than 2^max_level leaves. Calling it again and again from left to right gives the canonical
// decomposition of a range of leaves. first_leaf < end_leaf.
inline LeafRun NextRun(uint64_t first_leaf, uint64_t end_leaf, unsigned max_level = 63) {
  unsigned level = 0;
  while (level < max_level) {
    const uint64_t length = uint64_t{2} << level;
    if (length == 0 || first_leaf % length != 0 || length > end_leaf - first_leaf) break;
    ++level;
  }
  return {first_leaf, level};
}

// ceil(bytes / kLeafBytes).
inline uint64_t LeafCount(uint64_t bytes) { return bytes / kLeafBytes + (bytes % kLeafBytes != 0); }

}  // namespace reduction::kernels
