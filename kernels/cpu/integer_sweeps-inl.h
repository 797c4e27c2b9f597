// Exact integer sums and dots of a leaf, in any order. Each sweep also asks for as many bytes from
// `ahead` on as it reads. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_INTEGER_SWEEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_INTEGER_SWEEPS_INL_H_
#undef REDUCTION_KERNELS_CPU_INTEGER_SWEEPS_INL_H_
#else
#define REDUCTION_KERNELS_CPU_INTEGER_SWEEPS_INL_H_
#endif

#include "kernels/cpu/real_sweeps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

using ByteTag = hn::ScalableTag<uint8_t>;
using Unsigned64Tag = hn::ScalableTag<uint64_t>;
using Signed32Tag = hn::ScalableTag<int32_t>;
inline constexpr size_t kVectorBytes = HWY_LANES(uint8_t);

// The sum of all lanes.
template <class Wide, class D>
HWY_INLINE Wide SumLanes(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[HWY_LANES(hn::TFromD<D>)];
  hn::Store(v, d, lanes);
  Wide sum = 0;
  for (const auto lane : lanes) sum += static_cast<Wide>(lane);
  return sum;
}

// A running sum of pairs of 16-bit products in 32-bit lanes.
struct PairSums {
  hn::Vec<Signed32Tag> a;
  hn::Vec<Signed32Tag> b;

  HWY_INLINE PairSums() : a(hn::Zero(Signed32Tag())), b(hn::Zero(Signed32Tag())) {}

  template <class V>
  HWY_INLINE void Add(V x, V y) {
    a = hn::ReorderWidenMulAccumulate(Signed32Tag(), x, y, a, b);
  }
  HWY_INLINE int64_t Total() const {
    return SumLanes<int64_t>(Signed32Tag(), a) + SumLanes<int64_t>(Signed32Tag(), b);
  }
};

// A running sum of 64-bit lanes, split at bit 32. With kSigned the lanes are signed.
template <bool kSigned>
struct HalfSums {
  hn::Vec<Unsigned64Tag> low;
  hn::Vec<Unsigned64Tag> high;
  uint64_t count = 0;

  HWY_INLINE HalfSums() : low(hn::Zero(Unsigned64Tag())), high(hn::Zero(Unsigned64Tag())) {}

  HWY_INLINE void Add(hn::Vec<Unsigned64Tag> v) {
    const Unsigned64Tag d;
    if constexpr (kSigned) v = hn::Xor(v, hn::Set(d, uint64_t{1} << 63));
    low = hn::Add(low, hn::And(v, hn::Set(d, 0xffffffffu)));
    high = hn::Add(high, hn::ShiftRight<32>(v));
    count += HWY_LANES(uint64_t);
  }
  // Signed lanes were raised by 2^63 each.
  HWY_INLINE Int128 Total() const {
    const uint64_t high_sum = SumLanes<uint64_t>(Unsigned64Tag(), high);
    const uint64_t raised = kSigned ? count << 31 : 0;
    return Int128::FromHalves(SumLanes<uint64_t>(Unsigned64Tag(), low),
                              static_cast<int64_t>(high_sum - raised));
  }
};

// The sum of the elements of `bytes` bytes (whole rows of a leaf); with kAbsolute of their absolute
// values. Elements of at most 32 bits.
template <class T, bool kAbsolute>
HWY_NOINLINE int64_t SumNarrow(const std::byte* HWY_RESTRICT x, size_t bytes,
                               const std::byte* ahead) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using Bits = hn::TFromD<decltype(du)>;
  constexpr Bits kSignBit = Bits{1} << (8 * sizeof(T) - 1);
  const auto sign_bit = hn::Set(du, kSignBit);
  constexpr bool kRaise = std::is_signed_v<T> && !kAbsolute;  // to unsigned, by kSignBit each
  const auto load = [&](size_t at) HWY_ATTR {
    PrefetchStep<kVectorBytes>(ahead + at);
    auto v = LoadBytes(du, x + at);
    if constexpr (kRaise) v = hn::Xor(v, sign_bit);
    if constexpr (kAbsolute && std::is_signed_v<T>) v = hn::BitCast(du, hn::Abs(hn::BitCast(d, v)));
    return v;
  };
  const int64_t raised = kRaise ? static_cast<int64_t>(bytes / sizeof(T)) * int64_t{kSignBit} : 0;
  if constexpr (sizeof(T) == 1) {
    const Unsigned64Tag d64;
    auto sum = hn::Zero(d64);
    for (size_t at = 0; at < bytes; at += kVectorBytes) {
      sum = hn::Add(sum, hn::SumsOf8(load(at)));
    }
    return SumLanes<int64_t>(d64, sum) - raised;
  } else if constexpr (sizeof(T) == 2) {
    const hn::ScalableTag<int16_t> d16;
    const auto ones = hn::Set(d16, int16_t{1});
    PairSums sums;
    for (size_t at = 0; at < bytes; at += kVectorBytes) {
      // Back to signed: lower by 2^15.
      sums.Add(hn::BitCast(d16, hn::Xor(load(at), sign_bit)), ones);
    }
    return sums.Total() + static_cast<int64_t>(bytes / 2) * 0x8000 - raised;
  } else {
    const Unsigned64Tag d64;
    const auto low_half = hn::Set(d64, 0xffffffffu);
    auto even = hn::Zero(d64);
    auto odd = hn::Zero(d64);
    for (size_t at = 0; at < bytes; at += kVectorBytes) {
      const auto v = hn::BitCast(d64, load(at));
      even = hn::Add(even, hn::And(v, low_half));
      odd = hn::Add(odd, hn::ShiftRight<32>(v));
    }
    return SumLanes<int64_t>(d64, even) + SumLanes<int64_t>(d64, odd) - raised;
  }
}

// The same of 64-bit elements.
template <class T>
HWY_NOINLINE Int128 SumWide(const std::byte* HWY_RESTRICT x, size_t bytes, const std::byte* ahead) {
  HalfSums<std::is_signed_v<T>> sums;
  for (size_t at = 0; at < bytes; at += kVectorBytes) {
    PrefetchStep<kVectorBytes>(ahead + at);
    sums.Add(LoadBytes(Unsigned64Tag(), x + at));
  }
  return sums.Total();
}

// The dot product of elements of 8 or 16 bits.
template <class T>
HWY_NOINLINE int64_t DotNarrow(const std::byte* HWY_RESTRICT x, const std::byte* HWY_RESTRICT y,
                               size_t bytes, const std::byte* x_ahead, const std::byte* y_ahead) {
  const hn::ScalableTag<int16_t> d16;
  if constexpr (sizeof(T) == 1) {
    const hn::Rebind<T, decltype(d16)> d8;
    PairSums sums;
    for (size_t at = 0; at < bytes; at += kVectorBytes / 2) {
      PrefetchStep<kVectorBytes / 2>(x_ahead + at);
      PrefetchStep<kVectorBytes / 2>(y_ahead + at);
      sums.Add(hn::PromoteTo(d16, LoadBytes(d8, x + at)),
               hn::PromoteTo(d16, LoadBytes(d8, y + at)));
    }
    return sums.Total();
  } else {
    // A product is high * 2^16 + low; unsigned halves are lowered by 2^15 to add them as signed.
    const hn::ScalableTag<T> d;
    const auto ones = hn::Set(d16, int16_t{1});
    const auto sign_bit = hn::Set(d16, INT16_MIN);
    PairSums lows;
    PairSums highs;
    for (size_t at = 0; at < bytes; at += kVectorBytes) {
      PrefetchStep<kVectorBytes>(x_ahead + at);
      PrefetchStep<kVectorBytes>(y_ahead + at);
      const auto a = LoadBytes(d, x + at);
      const auto b = LoadBytes(d, y + at);
      auto high = hn::BitCast(d16, hn::MulHigh(a, b));
      if constexpr (!std::is_signed_v<T>) high = hn::Xor(high, sign_bit);
      highs.Add(high, ones);
      lows.Add(hn::Xor(hn::BitCast(d16, hn::Mul(a, b)), sign_bit), ones);
    }
    const int64_t lowered = static_cast<int64_t>(bytes / 2) * 0x8000;
    const int64_t high = highs.Total() + (std::is_signed_v<T> ? 0 : lowered);
    return high * 0x10000 + lows.Total() + lowered;
  }
}

// The dot product of elements of 32 bits, exact; of 64 bits, modulo 2^64 and extended by its sign.
template <class T>
HWY_NOINLINE Int128 DotWide(const std::byte* HWY_RESTRICT x, const std::byte* HWY_RESTRICT y,
                            size_t bytes, const std::byte* x_ahead, const std::byte* y_ahead) {
  const Unsigned64Tag d64;
  if constexpr (sizeof(T) == 4) {
    const hn::ScalableTag<T> d;
    HalfSums<std::is_signed_v<T>> sums;
    for (size_t at = 0; at < bytes; at += kVectorBytes) {
      PrefetchStep<kVectorBytes>(x_ahead + at);
      PrefetchStep<kVectorBytes>(y_ahead + at);
      const auto a = LoadBytes(d, x + at);
      const auto b = LoadBytes(d, y + at);
      const auto a_odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a)));
      const auto b_odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, b)));
      sums.Add(hn::BitCast(d64, hn::MulEven(a, b)));
      sums.Add(hn::BitCast(d64, hn::MulEven(a_odd, b_odd)));
    }
    return sums.Total();
  } else {
    const hn::ScalableTag<uint32_t> d32;
    auto sum = hn::Zero(d64);
    for (size_t at = 0; at < bytes; at += kVectorBytes) {
      PrefetchStep<kVectorBytes>(x_ahead + at);
      PrefetchStep<kVectorBytes>(y_ahead + at);
      const auto a = LoadBytes(d64, x + at);
      const auto b = LoadBytes(d64, y + at);
      const auto product = [&](auto p, auto q) HWY_ATTR {
        return hn::MulEven(hn::BitCast(d32, p), hn::BitCast(d32, q));
      };
      const auto crossed =
          hn::Add(product(a, hn::ShiftRight<32>(b)), product(hn::ShiftRight<32>(a), b));
      sum = hn::Add(sum, hn::Add(product(a, b), hn::ShiftLeft<32>(crossed)));
    }
    const uint64_t total = SumLanes<uint64_t>(d64, sum);
    return std::is_signed_v<T> ? Int128::FromInt64(static_cast<int64_t>(total))
                               : Int128::FromUint64(total);
  }
}

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
