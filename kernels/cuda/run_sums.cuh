// Everything a thread accumulates over a run of leaves, for one type, set and NaN policy.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/extrema.cuh"
#include "kernels/cuda/integer_sums.cuh"
#include "kernels/cuda/lane_sums.cuh"

namespace reduction::kernels::cuda {

// The components that leaves have to combine in the fixed order. The others may be accumulated
// over a whole run.
template <class T, Components kComponents>
inline constexpr Components kOrderedComponents =
    kComponents&(kSquaresComponent | kL1Component | kMomentsComponent |
                 (kIsFloating<T> ? kSumComponent | kDotComponent : 0));

template <class T, Components kComponents, bool kIgnoreNan>
class RunSums {
  static constexpr bool kFloating = kIsFloating<T>;
  static constexpr bool kDot = kComponents == kDotComponent;
  static constexpr bool kSmallInteger = !kFloating && sizeof(T) <= 2;
  static constexpr bool kIntegerSum =
      !kFloating && (kComponents & (kSumComponent | kDotComponent)) != 0;
  static constexpr bool kExtrema = (kComponents & kExtremaComponent) != 0;
  static constexpr bool kArg = (kComponents & kArgComponent) != 0;
  static constexpr bool kNans =
      kFloating && (kIgnoreNan || (kComponents & kNanCountComponent) != 0);
  static constexpr bool kNonzero = (kComponents & kNonzeroComponent) != 0;
  static constexpr bool kMoments = (kComponents & kMomentsComponent) != 0;
  static constexpr uint32_t kLanes = kVectorLanes<T>;

 public:
  // `first`: the first element of the leaf that takes part, which moments are taken about.
  __device__ void BeginLeaf(T first) {
    if constexpr (kDot) {
      if constexpr (kFloating) products_.Reset();
    } else {
      sums_.Begin(first);
    }
    leaf_nans_ = 0;
  }

  // Adds a thread's vector of row `row` of the run (and the second array's). Where kMasked,
  // elements whose bit in `valid` is 0 are missing and have zero bits.
  template <bool kMasked>
  __device__ void Add(const Vector& x, const Vector& y, uint32_t row, uint32_t valid) {
    if constexpr (kIntegerSum) integer_.Add(x, y);
    if constexpr (kExtrema) extrema_.template Add<kMasked>(x, row, valid);
#pragma unroll
    for (uint32_t c = 0; c < kLanes; ++c) {
      const bool missing = kMasked && (valid >> c & 1) == 0;
      const T element = Element<T>(x, c);
      if constexpr (kDot) {
        if constexpr (kFloating) AddProduct(c, element, Element<T>(y, c));
      } else {
        const bool nan = kNans && DeviceIsNan(element);
        if constexpr (kNans) leaf_nans_ += nan ? 1 : 0;
        if constexpr (kNonzero) {
          nonzero_ += IsNonzero(element) && !(kIgnoreNan && nan) ? 1 : 0;
        }
        const bool skip = missing || (kIgnoreNan && nan);
        if constexpr (kSmallInteger) {
          sums_.Add(element, skip);
        } else if constexpr (kOrderedComponents<T, kComponents> != 0) {
          sums_.Add(c, Widen(element), skip);
        }
      }
    }
  }

  // Ends a leaf of `count` elements; lanes are turned by `shift`. Sets the count and the ordered
  // components of the leaf's state, in every thread.
  __device__ void EndLeaf(uint32_t count, uint32_t shift, State* leaf) {
    if constexpr (kNans) nans_ += leaf_nans_;
    if constexpr (kIntegerSum) integer_.EndLeaf();
    leaf->count = count;
    if constexpr (kMoments && kIgnoreNan) leaf->count -= WarpSum(leaf_nans_);
    if constexpr (kDot) {
      if constexpr (kFloating) leaf->sum = products_.Total(shift);
    } else if constexpr (kSmallInteger) {
      sums_.End(leaf);
    } else {
      sums_.End(shift, leaf);
    }
  }

  // Sets the count and the components that are not ordered in the state of the run of `count`
  // elements at `run`, in every thread.
  __device__ void EndRun(const T* run, uint32_t count, uint64_t first_index, uint32_t shift,
                         State* state) const {
    state->count = count;
    if constexpr (kNans) {
      const uint32_t nans = WarpSum(nans_);
      if constexpr (kIgnoreNan) state->count -= nans;
      state->nan_count = nans;
    } else {
      state->nan_count = 0;
    }
    if constexpr (kNonzero) state->nonzero_count = WarpSum(nonzero_);
    if constexpr (kIntegerSum) state->integer_sum = integer_.Total();
    if constexpr (kExtrema) extrema_.End(run, count, first_index, shift, state);
  }

 private:
  struct Nothing {};
  using Sums =
      std::conditional_t<kSmallInteger, SmallIntegerSums<T, kComponents>, RealSums<T, kComponents>>;

  __device__ static bool IsNonzero(T x) {
    if constexpr (std::is_arithmetic_v<T>) {
      return x != 0;
    } else {
      return WidenToFloat(x) != 0;
    }
  }

  __device__ void AddProduct(uint32_t c, T x, T y) {
    double a = Widen(x);
    double b = Widen(y);
    if constexpr (kIgnoreNan) {
      if (DeviceIsNan(x) || DeviceIsNan(y)) {
        ++leaf_nans_;
        a = 0;
        b = 0;
      }
    }
    products_.sums[c] = fma(a, b, products_.sums[c]);
  }

  std::conditional_t<kDot, Nothing, Sums> sums_;
  std::conditional_t<kDot && kFloating, LaneSums<kLanes>, Nothing> products_;
  std::conditional_t<kIntegerSum, IntegerSum<T, kDot>, Nothing> integer_;
  std::conditional_t<kExtrema, Extrema<T, kIgnoreNan, kArg>, Nothing> extrema_;
  uint32_t leaf_nans_ = 0;
  uint32_t nans_ = 0;
  uint32_t nonzero_ = 0;
};

}  // namespace reduction::kernels::cuda
