// How threads load an array's rows: a word each, so that a warp has 32 adjacent words of a row.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/pass_args.h"
#include "kernels/element_type.h"
#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

// 4 bytes, or the 8 of an element.
template <class T>
using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
inline constexpr uint32_t kWordLanes = sizeof(Word<T>) / sizeof(T);
template <class T>
inline constexpr uint32_t kRowLanes = kRowBytes / sizeof(T);
template <class T>
inline constexpr uint32_t kRowWords = kRowBytes / sizeof(Word<T>);
template <class T>
inline constexpr uint32_t kLeafLanes = kLeafBytes / sizeof(T);
// Warps whose threads have a word each of a row.
template <class T>
inline constexpr uint32_t kRowWarps = kRowWords<T> / kWarpThreads;

// Element c of the word; c is a constant wherever speed matters.
template <class T>
__device__ inline T Element(Word<T> word, uint32_t c) {
  if constexpr (sizeof(T) == 2) {
    return BitCast<T>(static_cast<uint16_t>(word >> (c * 16)));
  } else if constexpr (sizeof(T) == 1) {
    return BitCast<T>(static_cast<uint8_t>(word >> (c * 8)));
  } else {
    return BitCast<T>(word);
  }
}

// The word in the same place of every row of a leaf. Elements may lie at any multiple of their
// size; the aligned 4-byte blocks that hold the leaf's first and last elements must be readable.
template <class T>
class Column {
  static constexpr bool kSmall = sizeof(T) < 4;

 public:
  __device__ Column(const T* leaf, uint32_t word) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(leaf);
    skew_bits_ = kSmall ? address % sizeof(Word<T>) * 8 : 0;
    from_ = reinterpret_cast<const Word<T>*>(address - skew_bits_ / 8) + word;
  }

  // Rows `row` and on, all of which the leaf has.
  template <uint32_t kRows>
  __device__ void Load(uint32_t row, Word<T> (&words)[kRows]) const {
    const Word<T>* const from = from_ + row * kRowWords<T>;
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) words[k] = __ldcs(from + k * kRowWords<T>);
    if constexpr (kSmall) {
      if (skew_bits_ == 0) return;
#pragma unroll
      for (uint32_t k = 0; k < kRows; ++k) {
        words[k] = __funnelshift_r(words[k], from[k * kRowWords<T> + 1], skew_bits_);
      }
    }
  }

  // The same of a leaf of which `bytes` bytes from the word of row `row` on exist; others are 0.
  template <uint32_t kRows>
  __device__ void LoadSome(uint32_t row, int32_t bytes, Word<T> (&words)[kRows]) const {
    const Word<T>* const from = from_ + row * kRowWords<T>;
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) {
      const int32_t left = bytes - static_cast<int32_t>(k * kRowBytes);
      words[k] = left > 0 ? __ldcs(from + k * kRowWords<T>) : 0;
      if constexpr (kSmall) {
        const bool next = left > static_cast<int32_t>(sizeof(Word<T>) - skew_bits_ / 8);
        words[k] = __funnelshift_r(words[k], next ? from[k * kRowWords<T> + 1] : 0, skew_bits_);
        if (left < 4) words[k] = left <= 0 ? 0 : words[k] & ((1u << (left * 8)) - 1);
      }
    }
  }

 private:
  const Word<T>* from_;
  uint32_t skew_bits_;
};

// Floating-point elements of at most 32 bits as float: exact.
__device__ inline float WidenToFloat(float x) { return x; }
__device__ inline float WidenToFloat(Bfloat16 x) { return ToFloat(x); }
__device__ inline float WidenToFloat(Float16 x) {
#ifdef __CUDA_ARCH__
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
  return f;
#else
  return ToFloat(x);
#endif
}

// ToReal() by the instructions of the device.
template <class T>
__device__ inline double Widen(T x) {
  if constexpr (kIsFloating<T> && sizeof(T) < 4) {
    return static_cast<double>(WidenToFloat(x));
  } else {
    return ToReal(x);
  }
}

template <class T>
__device__ inline bool DeviceIsNan(T x) {
  if constexpr (kIsFloating<T> && sizeof(T) <= 4) {
    const float f = WidenToFloat(x);
    return f != f;
  } else {
    return IsNan(x);
  }
}

}  // namespace reduction::kernels::cuda
