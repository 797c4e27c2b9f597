// What one leaf of an array contributes, by the cheapest sweeps that give it. Included once a
// target.
#if defined(REDUCTION_KERNELS_CPU_LEAF_TOTALS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_LEAF_TOTALS_INL_H_
#undef REDUCTION_KERNELS_CPU_LEAF_TOTALS_INL_H_
#else
#define REDUCTION_KERNELS_CPU_LEAF_TOTALS_INL_H_
#endif

#include "kernels/cpu/order_sweeps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

template <class T>
inline constexpr bool kIsNarrowInteger = !kIsFloating<T> && sizeof(T) <= 2;

// What SweepReals computes of a T: float sums, and all else but of narrow integers, whose sums of a
// leaf are exact in 64 bits.
template <class T>
inline constexpr Components kRealComponents = kIsNarrowInteger<T>
                                                  ? 0
                                                  : kSquaresComponent | kL1Component |
                                                        kMomentsComponent |
                                                        (kIsFloating<T> ? kSumComponent : 0);

template <class T>
struct LeafTotals {
  State state;  // without extrema and counts of elements
  Extrema<T> extrema{};

  // Whether the totals allow a NaN among the elements; without any, they do.
  bool MayHoldNan(Components components) const {
    if ((components & kRealComponents<T>) != 0) {
      return std::isnan(state.sum + state.sum_squares + state.l1 + state.s1);
    }
    if ((components & kExtremaComponent) != 0) return IsNan(extrema.min) || IsNan(extrema.max);
    return true;
  }
};

// SweepReals with the smallest compiled superset of `wanted`.
template <class T>
HWY_INLINE RealTotals SweepWantedReals(const std::byte* x, size_t rows, double shift,
                                       Components wanted, const std::byte* ahead) {
  constexpr Components kSum = kRealComponents<T> & kSumComponent;
  constexpr Components kSquares = kSum | kSquaresComponent;
  constexpr Components kL1 = kSum | kL1Component;
  constexpr Components kMoments = kSum | kMomentsComponent;
  if constexpr (kSum != 0) {
    if ((wanted & ~kSum) == 0) return SweepReals<T, kSum>(x, rows, shift, ahead);
  }
  if ((wanted & ~kSquares) == 0) return SweepReals<T, kSquares>(x, rows, shift, ahead);
  if ((wanted & ~kL1) == 0) return SweepReals<T, kL1>(x, rows, shift, ahead);
  if ((wanted & ~kMoments) == 0) return SweepReals<T, kMoments>(x, rows, shift, ahead);
  return SweepReals<T, kRealComponents<T>>(x, rows, shift, ahead);
}

template <class T>
HWY_INLINE void MeasureReals(const LeafView& view, size_t rows, T first, size_t kept,
                             Components components, const std::byte* ahead, State* state) {
  const Components wanted = components & kRealComponents<T>;
  if (wanted == 0) return;
  const double shift = ToReal(first);
  const RealTotals zeros = SweepWantedReals<T>(view.zeros, rows, shift, wanted, ahead);
  state->sum = zeros.sum;
  state->sum_squares = zeros.squares;
  state->l1 = zeros.l1;
  if ((components & kMomentsComponent) != 0) {
    const RealTotals deviations =
        view.copies == view.zeros
            ? zeros
            : SweepWantedReals<T>(view.copies, rows, shift, kMomentsComponent, view.copies);
    state->shift = shift;
    state->s1 = deviations.s1;
    state->m2 = CentredSquares(deviations.s1, deviations.s2, kept);
  }
}

template <class T>
HWY_INLINE void MeasureIntegers(const std::byte* x, size_t bytes, T first, size_t kept,
                                Components components, const std::byte* ahead, State* state) {
  if constexpr (!kIsNarrowInteger<T>) {
    if ((components & kSumComponent) == 0) return;
    if constexpr (sizeof(T) == 8) {
      state->integer_sum = SumWide<T>(x, bytes, ahead);
    } else {
      state->integer_sum = Int128::FromInt64(SumNarrow<T, false>(x, bytes, ahead));
    }
  } else {
    int64_t sum = 0;
    int64_t squares = 0;
    if ((components & (kSumComponent | kMomentsComponent)) != 0) {
      sum = SumNarrow<T, false>(x, bytes, ahead);
      state->integer_sum = Int128::FromInt64(sum);
    }
    if ((components & (kSquaresComponent | kMomentsComponent)) != 0) {
      squares = DotNarrow<T>(x, x, bytes, ahead, ahead);
      state->sum_squares = static_cast<double>(squares);
    }
    if ((components & kL1Component) != 0) {
      state->l1 = static_cast<double>(SumNarrow<T, true>(x, bytes, ahead));
    }
    if ((components & kMomentsComponent) != 0) {
      const int64_t shift = first;
      const int64_t n = static_cast<int64_t>(kept);
      const int64_t s1 = sum - n * shift;
      const int64_t s2 = squares - 2 * shift * sum + n * shift * shift;
      state->shift = static_cast<double>(shift);
      state->s1 = static_cast<double>(s1);
      state->m2 = CentredSquares(state->s1, static_cast<double>(s2), kept);
    }
  }
}

// `kept` elements of the view's rows take part; `first` is the first of them. `ahead` are as many
// bytes that will be needed next.
template <class T>
HWY_INLINE LeafTotals<T> Measure(const LeafView& view, size_t rows, T first, size_t kept,
                                 Components components, const std::byte* ahead) {
  const size_t bytes = rows * kRowBytes;
  LeafTotals<T> totals;
  if constexpr (kRealComponents<T> != 0) {
    MeasureReals<T>(view, rows, first, kept, components, ahead, &totals.state);
  }
  if constexpr (!kIsFloating<T>) {
    MeasureIntegers<T>(view.zeros, bytes, first, kept, components, ahead, &totals.state);
  }
  if ((components & kNonzeroComponent) != 0) {
    totals.state.nonzero_count =
        rows * kLanes<T> - CountWhere<T>(view.zeros, bytes, IsZeroBits<T>(), ahead);
  }
  if ((components & kExtremaComponent) != 0)
    totals.extrema = SweepExtrema<T>(view.copies, bytes, ahead);
  return totals;
}

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
