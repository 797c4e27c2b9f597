// Minimum and maximum of a leaf by order keys, and the first positions that hold them.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/warp.cuh"
#include "kernels/cuda/words.cuh"

namespace reduction::kernels::cuda {

template <class T>
using Key = OrderKeyOf<T>;
// The identities of min and max, and the keys of a NaN in max and min: no other float has them.
template <class T>
inline constexpr Key<T> kTopKey = std::numeric_limits<Key<T>>::max();
template <class T>
inline constexpr Key<T> kBottomKey = std::numeric_limits<Key<T>>::min();

template <class T>
__device__ inline Key<T> PlainKey(T x) {
  if constexpr (kIsFloating<T> && sizeof(T) < 4) {
    return OrderKey(WidenToFloat(x));
  } else {
    return OrderKey(x);
  }
}

template <class T, bool kIgnoreNan>
__device__ inline Key<T> MinKey(T x) {
  if (DeviceIsNan(x)) return kIgnoreNan ? kTopKey<T> : kBottomKey<T>;
  return PlainKey(x);
}
template <class T, bool kIgnoreNan>
__device__ inline Key<T> MaxKey(T x) {
  if (DeviceIsNan(x)) return kIgnoreNan ? kBottomKey<T> : kTopKey<T>;
  return PlainKey(x);
}

// min.f32 and max.f32 order -0 below +0 (PTX ISA), which fminf and fmaxf leave open. With a NaN
// they give the other operand, or the canonical NaN under kPropagate.
template <bool kIgnoreNan>
__device__ inline float MinFloat(float a, float b) {
  float r = a;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (kIgnoreNan) {
    asm("min.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  } else {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  }
#else
  if (MinKey<float, kIgnoreNan>(b) < MinKey<float, kIgnoreNan>(a)) r = b;
#endif
  return r;
}
template <bool kIgnoreNan>
__device__ inline float MaxFloat(float a, float b) {
  float r = a;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (kIgnoreNan) {
    asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  } else {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  }
#else
  if (MaxKey<float, kIgnoreNan>(b) > MaxKey<float, kIgnoreNan>(a)) r = b;
#endif
  return r;
}

// What a warp, or all of a leaf's, found.
template <class T>
struct ExtremaShare {
  Key<T> min;
  Key<T> max;
  uint32_t first_min;  // positions in the leaf; kNoPosition where no element holds the key
  uint32_t first_max;
};
inline constexpr uint32_t kNoPosition = 0xffffffffu;

template <class T, bool kArg>
__device__ inline ExtremaShare<T> CombineExtrema(const ExtremaShare<T>& a,
                                                 const ExtremaShare<T>& b) {
  ExtremaShare<T> r;
  r.min = b.min < a.min ? b.min : a.min;
  r.max = b.max > a.max ? b.max : a.max;
  if constexpr (kArg) {
    r.first_min =
        min(a.min == r.min ? a.first_min : kNoPosition, b.min == r.min ? b.first_min : kNoPosition);
    r.first_max =
        min(a.max == r.max ? a.first_max : kNoPosition, b.max == r.max ? b.first_max : kNoPosition);
  }
  return r;
}

// A thread's extrema over its column of a leaf, and the first rows that hold them.
template <class T, bool kIgnoreNan, bool kArg>
class Extrema {
  static constexpr uint32_t kLanes = kWordLanes<T>;
  // Compared as floats, not by their keys: one instruction.
  static constexpr bool kAsFloats = kIsFloating<T> && sizeof(T) <= 4;
  using Held = std::conditional_t<kAsFloats, float, Key<T>>;
  static constexpr uint32_t kGroupRows = 8;

 public:
  __device__ Extrema() {
    if constexpr (!kAsFloats) {
      min_ = kTopKey<T>;
      max_ = kBottomKey<T>;
    } else if constexpr (kIgnoreNan) {
      min_ = CanonicalNan();  // gives way to every number
      max_ = min_;
    } else {
      min_ = Infinity();
      max_ = -min_;
    }
  }

  // Elements whose bit in `valid` is 0 are missing; looked at where kMasked.
  template <bool kMasked>
  __device__ void Add(Word<T> word, uint32_t row, uint32_t valid) {
    Held low = min_;
    Held high = max_;
#pragma unroll
    for (uint32_t c = 0; c < kLanes; ++c) {
      if (kMasked && (valid >> c & 1) == 0) continue;
      Include(Element<T>(word, c), &low, &high);
    }
    if constexpr (kArg) {
      // An infinity may be what the thread began with.
      const bool first = kAsFloats && !kIgnoreNan && row == 0;
      if (first || Bits(low) != Bits(min_)) Note(&min_at_, row, word);
      if (first || Bits(high) != Bits(max_)) Note(&max_at_, row, word);
    }
    min_ = low;
    max_ = high;
  }

  // The same of the thread's words of all rows of a leaf, the only one: positions are looked for
  // where the warp's extrema are.
  __device__ void AddLeaf(const Word<T> (&words)[kRowsPerLeaf]) {
    static_assert(kArg && kLanes == 1);
#pragma unroll
    for (uint32_t row = 0; row < kRowsPerLeaf; row += kGroupRows) {
      Held low = min_;
      Held high = max_;
#pragma unroll
      for (uint32_t k = 0; k < kGroupRows; ++k) Include(Element<T>(words[row + k], 0), &low, &high);
      const bool first = kAsFloats && !kIgnoreNan && row == 0;
      if (first || Bits(low) != Bits(min_)) min_at_.row = row;
      if (first || Bits(high) != Bits(max_)) max_at_.row = row;
      min_ = low;
      max_ = high;
    }
    const Key<T> min = OwnMin();
    const Key<T> max = OwnMax();
    if (min == WarpMin(min)) FindRow(words, min_, &min_at_.row);
    if (max == WarpMax(max)) FindRow(words, max_, &max_at_.row);
  }

  // The warp's share, in every thread. The thread's column is word `column` of the rows of a leaf
  // of `count` elements.
  __device__ ExtremaShare<T> Share(uint32_t count, uint32_t column) const {
    const Key<T> own_min = OwnMin();
    const Key<T> own_max = OwnMax();
    ExtremaShare<T> share;
    share.min = WarpMin(own_min);
    share.max = WarpMax(own_max);
    if constexpr (kArg) {
      share.first_min = kNoPosition;
      share.first_max = kNoPosition;
      if (own_min == share.min) share.first_min = First<true>(min_at_, count, column, own_min);
      if (own_max == share.max) share.first_max = First<false>(max_at_, count, column, own_max);
      share.first_min = WarpMin(share.first_min);
      share.first_max = WarpMin(share.first_max);
    }
    return share;
  }

 private:
  // As min.f32 and max.f32 give it.
  __device__ static float CanonicalNan() { return BitCast<float>(uint32_t{0x7fffffff}); }
  __device__ static float Infinity() { return BitCast<float>(uint32_t{0x7f800000}); }

  __device__ static void Include(T element, Held* low, Held* high) {
    if constexpr (kAsFloats) {
      const float f = WidenToFloat(element);
      *low = MinFloat<kIgnoreNan>(*low, f);
      *high = MaxFloat<kIgnoreNan>(*high, f);
    } else {
      const Key<T> min = MinKey<T, kIgnoreNan>(element);
      const Key<T> max = MaxKey<T, kIgnoreNan>(element);
      *low = min < *low ? min : *low;
      *high = max > *high ? max : *high;
    }
  }

  __device__ Key<T> OwnMin() const {
    if constexpr (kAsFloats) {
      return MinKey<float, kIgnoreNan>(min_);
    } else {
      return min_;
    }
  }
  __device__ Key<T> OwnMax() const {
    if constexpr (kAsFloats) {
      return MaxKey<float, kIgnoreNan>(max_);
    } else {
      return max_;
    }
  }

  // *row: the first of a group of rows, one of which holds `held`; then the first of those.
  __device__ static void FindRow(const Word<T> (&words)[kRowsPerLeaf], Held held, uint32_t* row) {
    const uint32_t group = *row;
    const bool nan = kAsFloats && held != held;  // in place of any NaN
#pragma unroll
    for (uint32_t start = 0; start < kRowsPerLeaf; start += kGroupRows) {
      if (group != start) continue;
#pragma unroll
      for (uint32_t k = kGroupRows; k-- > 0;) {
        const T element = Element<T>(words[start + k], 0);
        bool found;
        if constexpr (kAsFloats) {
          found = nan ? DeviceIsNan(element) : Bits(WidenToFloat(element)) == Bits(held);
        } else {
          found = PlainKey(element) == held;
        }
        if (found) *row = start + k;
      }
    }
  }

  template <class H>
  __device__ static auto Bits(H x) {
    if constexpr (kAsFloats) {
      return BitCast<uint32_t>(x);
    } else {
      return x;
    }
  }

  // The row that first held an extremum, and the thread's word of it.
  struct Place {
    uint32_t row = 0;
    uint32_t word = 0;  // where it has several elements
  };
  __device__ static void Note(Place* at, uint32_t row, Word<T> word) {
    at->row = row;
    if constexpr (kLanes > 1) at->word = word;
  }

  // The first position at `at` whose key is `key`: none where the thread has no element that takes
  // part.
  template <bool kMin>
  __device__ static uint32_t First(const Place& at, uint32_t count, uint32_t column, Key<T> key) {
    const uint32_t start = at.row * kRowLanes<T> + column * kLanes;
    if constexpr (kLanes == 1) {
      constexpr Key<T> kIdentity = kMin ? kTopKey<T> : kBottomKey<T>;
      const bool none = kIsFloating<T> && kIgnoreNan && key == kIdentity;
      return start < count && !none ? start : kNoPosition;
    } else {
      uint32_t first = kNoPosition;
#pragma unroll
      for (uint32_t c = kLanes; c-- > 0;) {
        const T element = Element<T>(at.word, c);
        const Key<T> found = kMin ? MinKey<T, kIgnoreNan>(element) : MaxKey<T, kIgnoreNan>(element);
        const bool takes_part = start + c < count && !(kIgnoreNan && DeviceIsNan(element));
        if (takes_part && found == key) first = start + c;
      }
      return first;
    }
  }

  Held min_;
  Held max_;
  Place min_at_;
  Place max_at_;
};

}  // namespace reduction::kernels::cuda
