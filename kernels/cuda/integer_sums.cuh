// Exact sums of integers and of their products. Any order gives the same value.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/vector.cuh"
#include "kernels/cuda/warp.cuh"

namespace reduction::kernels::cuda {

// A thread's sum over a run of leaves. Vectors hold zeros where elements are missing.
//   8 bits, and sums of 16: 32-bit sums within a leaf, by instructions that add 4 or 2 elements
//   products of 16 bits, sums of 32: one 64-bit sum
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
  __device__ void Add(const Vector& x, const Vector& y) {
    if constexpr (kNarrow) {
#pragma unroll
      for (uint32_t w = 0; w < 4; ++w) {
        const Narrow a = static_cast<Narrow>(x.word[w]);
        if constexpr (kDot) {
          leaf_ = __dp4a(a, static_cast<Narrow>(y.word[w]), leaf_);
        } else if constexpr (sizeof(T) == 1) {
          leaf_ = __dp4a(a, static_cast<Narrow>(0x01010101), leaf_);
        } else {
          leaf_ = __dp2a_lo(a, static_cast<Narrow>(0x0101), leaf_);
        }
      }
    } else {
#pragma unroll
      for (uint32_t c = 0; c < kVectorLanes<T>; ++c) {
        Wide value = Element<T>(x, c);
        if constexpr (kDot) value *= static_cast<Wide>(Element<T>(y, c));
        if constexpr (kHalves) {
          low_ += static_cast<uint32_t>(value);
          high_ += static_cast<uint64_t>(value >> 32);
        } else {
          low_ += static_cast<uint64_t>(value);
        }
      }
    }
  }

  __device__ void EndLeaf() {
    if constexpr (kNarrow) {
      low_ += static_cast<uint64_t>(static_cast<Wide>(leaf_));
      leaf_ = 0;
    }
  }

  // The sum over the warp's threads, in every thread.
  __device__ Int128 Total() const {
    const uint64_t low = WarpSum(low_);
    if constexpr (kHalves) {
      return Int128::FromHalves(low, static_cast<int64_t>(WarpSum(high_)));
    } else if constexpr (kSigned) {
      return Int128::FromInt64(static_cast<int64_t>(low));
    } else {
      return Int128::FromUint64(low);
    }
  }

 private:
  Narrow leaf_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

}  // namespace reduction::kernels::cuda
