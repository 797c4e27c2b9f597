// Sums of a leaf in float64, lane by lane and then over the tree of lanes. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_REAL_SWEEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_REAL_SWEEPS_INL_H_
#undef REDUCTION_KERNELS_CPU_REAL_SWEEPS_INL_H_
#else
#define REDUCTION_KERNELS_CPU_REAL_SWEEPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/fixed_order.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using RealTag = hn::ScalableTag<double>;
using Reals = hn::Vec<RealTag>;
inline constexpr size_t kReals = HWY_LANES(double);

template <class T>
inline constexpr size_t kLanes = kRowBytes / sizeof(T);

// A vector from memory of any alignment.
template <class D>
HWY_INLINE hn::Vec<D> LoadBytes(D d, const std::byte* bytes) {
  const hn::Repartition<uint8_t, D> d8;
  return hn::BitCast(d, hn::LoadU(d8, reinterpret_cast<const uint8_t*>(bytes)));
}

// 64-bit integers to float64, rounded once to nearest even: the two halves become exact numbers by
// way of the bits of 2^84 (plus 2^63 when signed) and 2^52, and one addition joins them.
template <bool kSigned, class V>
HWY_INLINE Reals RealsOf64(V bits) {
  const RealTag d;
  const hn::RebindToUnsigned<RealTag> du;
  const auto high_magic = hn::Set(du, kSigned ? 0x4530000080000000u : 0x4530000000000000u);
  const auto low_magic = hn::Set(du, 0x4330000000000000u);
  const auto high = hn::Xor(hn::ShiftRight<32>(bits), high_magic);
  const auto low = hn::Or(hn::And(bits, hn::Set(du, 0xffffffffu)), low_magic);
  const auto offset = hn::Set(d, kSigned ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52);
  return hn::Add(hn::Sub(hn::BitCast(d, high), offset), hn::BitCast(d, low));
}

// binary16 bits in 32-bit lanes to float32: exact, subnormals and infinities included.
template <class DF, class V>
HWY_INLINE hn::Vec<DF> FloatsOfHalves(DF df, V bits) {
  const hn::RebindToUnsigned<DF> du;
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffu)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto scaled = hn::Mul(hn::BitCast(df, magnitude), hn::Set(df, 0x1p112f));
  const auto infinite = hn::Eq(hn::And(bits, hn::Set(du, 0x7c00u)), hn::Set(du, 0x7c00u));
  const auto special = hn::Or(magnitude, hn::Set(du, 0x7f800000u));
  return hn::BitCast(df, hn::Or(sign, hn::IfThenElse(infinite, special, hn::BitCast(du, scaled))));
}

// kReals consecutive elements as float64, as ToReal() gives them.
template <class T>
HWY_INLINE Reals LoadReals(const std::byte* bytes) {
  const RealTag d;
  const hn::RebindToUnsigned<RealTag> du64;
  const hn::Rebind<uint32_t, RealTag> du32;
  const hn::Rebind<float, RealTag> df32;
  if constexpr (std::is_same_v<T, double>) {
    return LoadBytes(d, bytes);
  } else if constexpr (std::is_same_v<T, float>) {
    return hn::PromoteTo(d, LoadBytes(df32, bytes));
  } else if constexpr (std::is_same_v<T, Float16>) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86 && !defined(HWY_DISABLE_F16C)
    const hn::Rebind<hwy::float16_t, RealTag> df16;
    return hn::PromoteTo(d, hn::PromoteTo(df32, LoadBytes(df16, bytes)));
#else
    const hn::Rebind<uint16_t, RealTag> du16;
    return hn::PromoteTo(d, FloatsOfHalves(df32, hn::PromoteTo(du32, LoadBytes(du16, bytes))));
#endif
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    const hn::Rebind<uint16_t, RealTag> du16;
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(du32, LoadBytes(du16, bytes)));
    return hn::PromoteTo(d, hn::BitCast(df32, bits));
  } else if constexpr (std::is_same_v<T, int32_t>) {
    const hn::Rebind<int32_t, RealTag> di32;
    return hn::PromoteTo(d, LoadBytes(di32, bytes));
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    const auto magic = hn::Set(du64, 0x4330000000000000u);
    const auto bits = hn::Or(hn::PromoteTo(du64, LoadBytes(du32, bytes)), magic);
    return hn::Sub(hn::BitCast(d, bits), hn::Set(d, 0x1p52));
  } else {
    static_assert(sizeof(T) == 8);
    return RealsOf64<std::is_signed_v<T>>(LoadBytes(du64, bytes));
  }
}

// fma(a, b, c). kExactProduct: a * b needs no rounding, so that two steps give the same.
template <bool kExactProduct>
HWY_INLINE Reals FusedMultiplyAdd(Reals a, Reals b, Reals c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const RealTag d;
  if constexpr (kExactProduct) return hn::Add(hn::Mul(a, b), c);
  HWY_ALIGN double x[kReals], y[kReals], z[kReals];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t i = 0; i < kReals; ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

// The product of two elements is exact in float64.
template <class T>
inline constexpr bool kExactProducts = kIsFloating<T> && sizeof(T) <= 4;

// Combines lanes 1, 2, 4, … apart. Overwrites `lanes`; `count` is a power of two.
HWY_INLINE double LaneTree(double* HWY_RESTRICT lanes, size_t count) {
  const RealTag d;
  for (; count >= 2 * kReals; count /= 2) {
    for (size_t i = 0; i < count / 2; i += kReals) {
      Reals even, odd;
      hn::LoadInterleaved2(d, lanes + 2 * i, even, odd);
      hn::Store(hn::Add(even, odd), d, lanes + i);
    }
  }
  for (; count > 1; count /= 2) {
    for (size_t i = 0; i < count / 2; ++i) lanes[i] = lanes[2 * i] + lanes[2 * i + 1];
  }
  return lanes[0];
}

// Asks for the next leaf while the current one is swept: lanes go down rows 512 bytes apart, which
// hardware prefetchers do not follow. Each step of a sweep asks for as many bytes as it reads, for
// the second-level cache, since two leaves fill a first-level one.
template <size_t kBytes>
HWY_INLINE void PrefetchStep(const std::byte* ahead) {
  for (size_t at = 0; at < kBytes; at += 64) __builtin_prefetch(ahead + at, 0, 2);
}

struct RealTotals {
  double sum = 0;
  double squares = 0;
  double l1 = 0;
  double s1 = 0;  // of deviations from the shift
  double s2 = 0;
};

// Totals of `rows` rows. kParts names which: sum, squares, L1, moments (about `shift`). `ahead` are
// as many bytes that will be needed next.
template <class T, Components kParts>
HWY_NOINLINE RealTotals SweepReals(const std::byte* HWY_RESTRICT x, size_t rows, double shift,
                                   const std::byte* ahead) {
  constexpr bool kSum = (kParts & kSumComponent) != 0;
  constexpr bool kSquares = (kParts & kSquaresComponent) != 0;
  constexpr bool kL1 = (kParts & kL1Component) != 0;
  constexpr bool kMoments = (kParts & kMomentsComponent) != 0;
  constexpr size_t kQuantities = kSum + kSquares + kL1 + 2 * kMoments;
  // Enough independent chains to hide the latency of addition, few enough for the registers.
  constexpr size_t kUnroll = kQuantities == 1 ? 8 : kQuantities <= 3 ? 4 : 2;
  constexpr size_t kStepBytes = kUnroll * kReals * sizeof(T);
  const RealTag d;
  const Reals centre = hn::Set(d, shift);
  HWY_ALIGN double sums[kSum ? kLanes<T> : 1];
  HWY_ALIGN double squares[kSquares ? kLanes<T> : 1];
  HWY_ALIGN double l1s[kL1 ? kLanes<T> : 1];
  HWY_ALIGN double s1s[kMoments ? kLanes<T> : 1];
  HWY_ALIGN double s2s[kMoments ? kLanes<T> : 1];
  for (size_t lane = 0; lane < kLanes<T>; lane += kUnroll * kReals) {
    Reals sum[kUnroll], square[kUnroll], l1[kUnroll], s1[kUnroll], s2[kUnroll];
    for (size_t u = 0; u < kUnroll; ++u) {
      sum[u] = square[u] = l1[u] = s1[u] = s2[u] = hn::Zero(d);
    }
    const std::byte* row = x + lane * sizeof(T);
    for (size_t r = 0; r < rows; ++r, row += kRowBytes, ahead += kStepBytes) {
      PrefetchStep<kStepBytes>(ahead);
      for (size_t u = 0; u < kUnroll; ++u) {
        const Reals value = LoadReals<T>(row + u * kReals * sizeof(T));
        if constexpr (kSum) sum[u] = hn::Add(sum[u], value);
        if constexpr (kSquares) {
          square[u] = FusedMultiplyAdd<kExactProducts<T>>(value, value, square[u]);
        }
        if constexpr (kL1) l1[u] = hn::Add(l1[u], hn::Abs(value));
        if constexpr (kMoments) {
          const Reals deviation = hn::Sub(value, centre);
          s1[u] = hn::Add(s1[u], deviation);
          s2[u] = FusedMultiplyAdd<false>(deviation, deviation, s2[u]);
        }
      }
    }
    for (size_t u = 0; u < kUnroll; ++u) {
      const size_t at = lane + u * kReals;
      if constexpr (kSum) hn::Store(sum[u], d, sums + at);
      if constexpr (kSquares) hn::Store(square[u], d, squares + at);
      if constexpr (kL1) hn::Store(l1[u], d, l1s + at);
      if constexpr (kMoments) hn::Store(s1[u], d, s1s + at);
      if constexpr (kMoments) hn::Store(s2[u], d, s2s + at);
    }
  }
  RealTotals totals;
  if constexpr (kSum) totals.sum = LaneTree(sums, kLanes<T>);
  if constexpr (kSquares) totals.squares = LaneTree(squares, kLanes<T>);
  if constexpr (kL1) totals.l1 = LaneTree(l1s, kLanes<T>);
  if constexpr (kMoments) totals.s1 = LaneTree(s1s, kLanes<T>);
  if constexpr (kMoments) totals.s2 = LaneTree(s2s, kLanes<T>);
  return totals;
}

// The dot product of `rows` rows of floats.
template <class T>
HWY_NOINLINE double SweepDot(const std::byte* HWY_RESTRICT x, const std::byte* HWY_RESTRICT y,
                             size_t rows, const std::byte* x_ahead, const std::byte* y_ahead) {
  constexpr size_t kUnroll = 8;
  constexpr size_t kStepBytes = kUnroll * kReals * sizeof(T);
  size_t ahead = 0;
  const RealTag d;
  HWY_ALIGN double lanes[kLanes<T>];
  for (size_t lane = 0; lane < kLanes<T>; lane += kUnroll * kReals) {
    Reals sum[kUnroll];
    for (size_t u = 0; u < kUnroll; ++u) sum[u] = hn::Zero(d);
    size_t offset = lane * sizeof(T);
    for (size_t r = 0; r < rows; ++r, offset += kRowBytes, ahead += kStepBytes) {
      PrefetchStep<kStepBytes>(x_ahead + ahead);
      PrefetchStep<kStepBytes>(y_ahead + ahead);
      for (size_t u = 0; u < kUnroll; ++u) {
        const size_t at = offset + u * kReals * sizeof(T);
        sum[u] =
            FusedMultiplyAdd<kExactProducts<T>>(LoadReals<T>(x + at), LoadReals<T>(y + at), sum[u]);
      }
    }
    for (size_t u = 0; u < kUnroll; ++u) hn::Store(sum[u], d, lanes + lane + u * kReals);
  }
  return LaneTree(lanes, kLanes<T>);
}

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
