// Extrema, counts and searches of a leaf, in any order. Each sweep over whole rows also asks for as
// many bytes from `ahead` on as it reads. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_ORDER_SWEEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_ORDER_SWEEPS_INL_H_
#undef REDUCTION_KERNELS_CPU_ORDER_SWEEPS_INL_H_
#else
#define REDUCTION_KERNELS_CPU_ORDER_SWEEPS_INL_H_
#endif

#include <algorithm>

#include "kernels/cpu/integer_sweeps-inl.h"
#include "kernels/cpu/patched_leaf.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

// Unsigned and signed integers with the bits of an element.
template <class T>
using BitsOf = hwy::UnsignedFromSize<sizeof(T)>;
template <class T>
using SignedBitsOf = hwy::SignedFromSize<sizeof(T)>;

template <class T>
struct Extrema {
  T min;
  T max;
};

template <class D>
HWY_INLINE hn::TFromD<D> LeastLane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[HWY_LANES(hn::TFromD<D>)];
  hn::Store(v, d, lanes);
  return *std::min_element(std::begin(lanes), std::end(lanes));
}
template <class D>
HWY_INLINE hn::TFromD<D> GreatestLane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[HWY_LANES(hn::TFromD<D>)];
  hn::Store(v, d, lanes);
  return *std::max_element(std::begin(lanes), std::end(lanes));
}

// Extrema of `bytes` bytes (whole rows) of integers.
template <class T>
HWY_NOINLINE Extrema<T> SweepExtremaOfIntegers(const std::byte* HWY_RESTRICT x, size_t bytes,
                                               const std::byte* ahead) {
  constexpr size_t kUnroll = 4;
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> min[kUnroll], max[kUnroll];
  for (size_t u = 0; u < kUnroll; ++u) min[u] = max[u] = LoadBytes(d, x + u * kVectorBytes);
  for (size_t at = 0; at < bytes; at += kUnroll * kVectorBytes) {
    PrefetchStep<kUnroll * kVectorBytes>(ahead + at);
    for (size_t u = 0; u < kUnroll; ++u) {
      const auto v = LoadBytes(d, x + at + u * kVectorBytes);
      min[u] = hn::Min(min[u], v);
      max[u] = hn::Max(max[u], v);
    }
  }
  for (size_t u = 1; u < kUnroll; ++u) {
    min[0] = hn::Min(min[0], min[u]);
    max[0] = hn::Max(max[0], max[u]);
  }
  return {LeastLane(d, min[0]), GreatestLane(d, max[0])};
}

// Extrema of floats in the order of their keys: if there is a NaN, at least one of the two is a
// NaN. Bits of positive numbers order like the numbers, those of negative ones the other way round.
// So the extrema of the bits as signed and the maximum of the bits as unsigned numbers tell both.
template <class T>
HWY_NOINLINE Extrema<T> SweepExtremaOfFloats(const std::byte* HWY_RESTRICT x, size_t bytes,
                                             const std::byte* ahead) {
  constexpr size_t kUnroll = 4;
  const hn::ScalableTag<SignedBitsOf<T>> ds;
  const hn::ScalableTag<BitsOf<T>> du;
  hn::Vec<decltype(ds)> min[kUnroll], max[kUnroll];
  hn::Vec<decltype(du)> top[kUnroll];
  for (size_t u = 0; u < kUnroll; ++u) {
    min[u] = max[u] = LoadBytes(ds, x + u * kVectorBytes);
    top[u] = hn::BitCast(du, min[u]);
  }
  for (size_t at = 0; at < bytes; at += kUnroll * kVectorBytes) {
    PrefetchStep<kUnroll * kVectorBytes>(ahead + at);
    for (size_t u = 0; u < kUnroll; ++u) {
      const auto v = LoadBytes(ds, x + at + u * kVectorBytes);
      min[u] = hn::Min(min[u], v);
      max[u] = hn::Max(max[u], v);
      top[u] = hn::Max(top[u], hn::BitCast(du, v));
    }
  }
  for (size_t u = 1; u < kUnroll; ++u) {
    min[0] = hn::Min(min[0], min[u]);
    max[0] = hn::Max(max[0], max[u]);
    top[0] = hn::Max(top[0], top[u]);
  }
  const SignedBitsOf<T> least = LeastLane(ds, min[0]);
  const SignedBitsOf<T> greatest = GreatestLane(ds, max[0]);
  const BitsOf<T> min_bits = least < 0 ? GreatestLane(du, top[0]) : static_cast<BitsOf<T>>(least);
  const BitsOf<T> max_bits = static_cast<BitsOf<T>>(greatest >= 0 ? greatest : least);
  return {BitCast<T>(min_bits), BitCast<T>(max_bits)};
}

template <class T>
HWY_INLINE Extrema<T> SweepExtrema(const std::byte* x, size_t bytes, const std::byte* ahead) {
  if constexpr (kIsFloating<T>) {
    return SweepExtremaOfFloats<T>(x, bytes, ahead);
  } else {
    return SweepExtremaOfIntegers<T>(x, bytes, ahead);
  }
}

// Predicates on the bits of elements, a vector at a time.
template <class T>
struct IsZeroBits {
  template <class D>
  HWY_INLINE hn::Mask<D> operator()(D d, hn::Vec<D> bits) const {
    // -0 is zero, too.
    if constexpr (kIsFloating<T>) bits = hn::Add(bits, bits);
    return hn::Eq(bits, hn::Zero(d));
  }
};
template <class T>
struct IsNanBits {
  template <class D>
  HWY_INLINE hn::Mask<D> operator()(D d, hn::Vec<D> bits) const {
    constexpr BitsOf<T> kInfinity = std::is_same_v<T, double>     ? 0x7ff0000000000000u
                                    : std::is_same_v<T, float>    ? 0x7f800000u
                                    : std::is_same_v<T, Bfloat16> ? 0x7f80u
                                                                  : 0x7c00u;
    const hn::RebindToSigned<D> ds;
    const auto magnitude = hn::BitCast(ds, hn::And(bits, hn::Set(d, LimitOfMagnitude())));
    const auto infinity = hn::Set(ds, static_cast<SignedBitsOf<T>>(kInfinity));
    return hn::RebindMask(d, hn::Gt(magnitude, infinity));
  }
  static constexpr BitsOf<T> LimitOfMagnitude() {
    return static_cast<BitsOf<T>>(~BitsOf<T>{0}) >> 1;
  }
};
template <class T>
struct HasBits {
  BitsOf<T> wanted;
  template <class D>
  HWY_INLINE hn::Mask<D> operator()(D d, hn::Vec<D> bits) const {
    return hn::Eq(bits, hn::Set(d, wanted));
  }
};

// Elements in `bytes` bytes (whole rows of a leaf) that hold the predicate.
template <class T, class Predicate>
HWY_NOINLINE uint64_t CountWhere(const std::byte* HWY_RESTRICT x, size_t bytes, Predicate holds,
                                 const std::byte* ahead) {
  const hn::ScalableTag<BitsOf<T>> d;
  // So many vectors that an 8-bit counter cannot overflow.
  constexpr size_t kBlockBytes = sizeof(T) == 1 ? 128 * kVectorBytes : kLeafBytes;
  uint64_t count = 0;
  for (size_t begin = 0; begin < bytes; begin += kBlockBytes) {
    const size_t end = std::min(bytes, begin + kBlockBytes);
    auto counts = hn::Zero(d);
    for (size_t at = begin; at < end; at += kVectorBytes) {
      PrefetchStep<kVectorBytes>(ahead + at);
      counts = hn::Sub(counts, hn::VecFromMask(d, holds(d, LoadBytes(d, x + at))));
    }
    count += SumLanes<uint64_t>(d, counts);
  }
  return count;
}

// Index of the first of `count` elements that holds the predicate; `count` when none does.
template <class T, class Predicate>
HWY_NOINLINE size_t FindWhere(const std::byte* HWY_RESTRICT x, size_t count, Predicate holds) {
  const hn::ScalableTag<BitsOf<T>> d;
  constexpr size_t kStep = HWY_LANES(BitsOf<T>);
  size_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    const auto mask = holds(d, LoadBytes(d, x + at * sizeof(T)));
    if (!hn::AllFalse(d, mask)) return at + static_cast<size_t>(hn::FindFirstTrue(d, mask));
  }
  const hn::CappedTag<BitsOf<T>, 1> d1;
  for (; at < count; ++at) {
    if (!hn::AllFalse(d1, holds(d1, hn::Set(d1, LoadElement<BitsOf<T>>(x + at * sizeof(T))))))
      break;
  }
  return at;
}

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
