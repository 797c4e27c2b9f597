// Minimum and maximum of a column of small integers, two elements an instruction.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/extrema.cuh"

namespace reduction::kernels::cuda {

// Integers of 8 and 16 bits, without positions. Halves of a word are compared as 16-bit integers.
// The upper byte of a half decides, so that one of 8 bits needs no more than to stand there: the
// byte below it only breaks ties.
template <class T>
class PackedExtrema {
  static constexpr bool kBytes = sizeof(T) == 1;
  static constexpr uint32_t kWords = kBytes ? 2 : 1;
  static constexpr uint32_t kTop = std::is_signed_v<T> ? 0x7fff7fffu : 0xffffffffu;
  static constexpr uint32_t kBottom = ~kTop;

 public:
  __device__ PackedExtrema() {
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
      min_[i] = kTop;
      max_[i] = kBottom;
    }
  }

  // Elements whose bit in `valid` is 0 are missing; looked at where kMasked.
  template <bool kMasked>
  __device__ void Add(uint32_t word, uint32_t, uint32_t valid) {
    uint32_t present = 0xffffffffu;
    if constexpr (kMasked) {
      present = 0;
#pragma unroll
      for (uint32_t c = 0; c < kWordLanes<T>; ++c) {
        if ((valid >> c & 1) != 0) present |= ElementMask(c);
      }
    }
    // Bytes of an identity are the identity of a byte.
    const uint32_t for_min = (word & present) | (TopBytes() & ~present);
    const uint32_t for_max = (word & present) | (~TopBytes() & ~present);
    min_[0] = Min(min_[0], for_min);
    max_[0] = Max(max_[0], for_max);
    if constexpr (kBytes) {
      min_[1] = Min(min_[1], for_min << 8);
      max_[1] = Max(max_[1], for_max << 8);
    }
  }

  // The warp's share, in every thread.
  __device__ ExtremaShare<T> Share(uint32_t, uint32_t) const {
    Key<T> min = kTopKey<T>;
    Key<T> max = kBottomKey<T>;
#pragma unroll
    for (uint32_t i = 0; i < kWords; ++i) {
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        const Key<T> low = KeyOf(min_[i], half);
        const Key<T> high = KeyOf(max_[i], half);
        min = low < min ? low : min;
        max = high > max ? high : max;
      }
    }
    ExtremaShare<T> share;
    share.min = WarpMin(min);
    share.max = WarpMax(max);
    return share;
  }

 private:
  __device__ static constexpr uint32_t ElementMask(uint32_t c) {
    return kBytes ? 0xffu << (c * 8) : 0xffffu << (c * 16);
  }
  __device__ static constexpr uint32_t TopBytes() {
    return kBytes && std::is_signed_v<T> ? 0x7f7f7f7fu : kTop;
  }
  __device__ static uint32_t Min(uint32_t a, uint32_t b) {
    return std::is_signed_v<T> ? __vmins2(a, b) : __vminu2(a, b);
  }
  __device__ static uint32_t Max(uint32_t a, uint32_t b) {
    return std::is_signed_v<T> ? __vmaxs2(a, b) : __vmaxu2(a, b);
  }
  // Of the element in half `half` of a word.
  __device__ static Key<T> KeyOf(uint32_t word, uint32_t half) {
    return OrderKey(static_cast<T>(word >> (half * 16 + (kBytes ? 8 : 0))));
  }

  uint32_t min_[kWords];
  uint32_t max_[kWords];
};

template <class T, bool kIgnoreNan, bool kArg>
using ColumnExtrema = std::conditional_t<!kIsFloating<T> && sizeof(T) <= 2 && !kArg,
                                         PackedExtrema<T>, Extrema<T, kIgnoreNan, kArg>>;

}  // namespace reduction::kernels::cuda
