// Exact sums of integers and of their products. Any order gives the same value.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/warp.cuh"
#include "kernels/cuda/words.cuh"

namespace reduction::kernels::cuda {

// A thread's sum over its column of a leaf. Words hold zeros where elements are missing.
//   8 bits, and sums of 16: a 32-bit sum, by instructions that add 4 or 2 elements
//   products of 16 bits, sums of 32: a 64-bit sum
//   products of 32 bits, sums of 64: split at bit 32 into two 64-bit sums
//   products of 64 bits: the low 64 bits, wrapping
template <class T, bool kDot>
class IntegerSum {
  static constexpr bool kSigned = std::is_signed_v<T>;
  static constexpr bool kNarrow = sizeof(T) == 1 || (sizeof(T) == 2 && !kDot);
  static constexpr bool kHalves = kDot ? sizeof(T) == 4 : sizeof(T) == 8;
  using Wide = std::conditional_t<kSigned, int64_t, uint64_t>;
  using Narrow = std::conditional_t<kSigned, int32_t, uint32_t>;

 public:
  __device__ void Add(Word<T> x, Word<T> y) {
    if constexpr (kNarrow) {
      const Narrow a = static_cast<Narrow>(x);
      if constexpr (kDot) {
        narrow_ = __dp4a(a, static_cast<Narrow>(y), narrow_);
      } else if constexpr (sizeof(T) == 1) {
        narrow_ = __dp4a(a, static_cast<Narrow>(0x01010101), narrow_);
      } else {
        narrow_ = __dp2a_lo(a, static_cast<Narrow>(0x0101), narrow_);
      }
    } else {
#pragma unroll
      for (uint32_t c = 0; c < kWordLanes<T>; ++c) {
        Wide value = Element<T>(x, c);
        if constexpr (kDot && sizeof(T) == 8) {  // wraps
          value = static_cast<Wide>(static_cast<uint64_t>(value) *
                                    static_cast<uint64_t>(Element<T>(y, c)));
        } else if constexpr (kDot) {
          value *= static_cast<Wide>(Element<T>(y, c));
        }
        if constexpr (kHalves) {
          low_ += static_cast<uint32_t>(value);
          high_ += static_cast<uint64_t>(value >> 32);
        } else {
          low_ += static_cast<uint64_t>(value);
        }
      }
    }
  }

  // The sum over the warp's threads, in every thread.
  __device__ Int128 Total() const {
    if constexpr (kNarrow) {
      const uint32_t sum = WarpSum(static_cast<uint32_t>(narrow_));
      if constexpr (kSigned) return Int128::FromInt64(static_cast<int32_t>(sum));
      return Int128::FromUint64(sum);
    } else {
      const uint64_t low = WarpSum(low_);
      if constexpr (kHalves) {
        return Int128::FromHalves(low, static_cast<int64_t>(WarpSum(high_)));
      } else if constexpr (kSigned) {
        return Int128::FromInt64(static_cast<int64_t>(low));
      } else {
        return Int128::FromUint64(low);
      }
    }
  }

 private:
  Narrow narrow_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

}  // namespace reduction::kernels::cuda
