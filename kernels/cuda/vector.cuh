// Sixteen bytes of a row, a thread's part: how they are loaded, moved and read as elements.
#pragma once

#include <cstdint>

#include "kernels/element_type.h"
#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

struct alignas(16) Vector {
  uint32_t word[4];
};

template <class T>
inline constexpr uint32_t kVectorLanes = sizeof(Vector) / sizeof(T);
template <class T>
inline constexpr uint32_t kRowLanes = kRowBytes / sizeof(T);
inline constexpr uint32_t kRowVectors = kRowBytes / sizeof(Vector);

// Data are read once: they should not displace what the cache holds.
__device__ inline Vector LoadStreaming(const Vector* from) {
  const uint4 v = __ldcs(reinterpret_cast<const uint4*>(from));
  return {{v.x, v.y, v.z, v.w}};
}

// Element c of the vector. c is a constant wherever speed matters.
template <class T>
__device__ inline T Element(const Vector& v, uint32_t c) {
  if constexpr (sizeof(T) == 8) {
    return BitCast<T>((uint64_t{v.word[2 * c + 1]} << 32) | v.word[2 * c]);
  } else if constexpr (sizeof(T) == 4) {
    return BitCast<T>(v.word[c]);
  } else if constexpr (sizeof(T) == 2) {
    return BitCast<T>(static_cast<uint16_t>(v.word[c / 2] >> (c % 2 * 16)));
  } else {
    return BitCast<T>(static_cast<uint8_t>(v.word[c / 4] >> (c % 4 * 8)));
  }
}

// All bits of the first `bytes` bytes.
__device__ inline Vector LowBytesMask(uint32_t bytes) {
  Vector mask;
#pragma unroll
  for (uint32_t w = 0; w < 4; ++w) {
    if (bytes >= 4 * w + 4) {
      mask.word[w] = ~0u;
    } else if (bytes <= 4 * w) {
      mask.word[w] = 0;
    } else {
      mask.word[w] = (1u << (8 * (bytes - 4 * w))) - 1;
    }
  }
  return mask;
}

// b where the mask has ones, a elsewhere.
__device__ inline Vector Blend(const Vector& a, const Vector& b, const Vector& mask) {
  Vector r;
#pragma unroll
  for (uint32_t w = 0; w < 4; ++w)
    r.word[w] = (a.word[w] & ~mask.word[w]) | (b.word[w] & mask.word[w]);
  return r;
}

// Bytes `offset` to `offset` + 15 of low followed by high. offset < 16, a multiple of kStep.
template <size_t kStep>
__device__ inline Vector Realign(const Vector& low, const Vector& high, uint32_t offset) {
  uint32_t w[8] = {low.word[0],  low.word[1],  low.word[2],  low.word[3],
                   high.word[0], high.word[1], high.word[2], high.word[3]};
  if ((offset & 8) != 0) {
#pragma unroll
    for (uint32_t i = 0; i < 6; ++i) w[i] = w[i + 2];
  }
  if (kStep <= 4 && (offset & 4) != 0) {
#pragma unroll
    for (uint32_t i = 0; i < 5; ++i) w[i] = w[i + 1];
  }
  Vector r;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    r.word[i] = kStep < 4 ? __funnelshift_r(w[i], w[i + 1], offset % 4 * 8) : w[i];
  }
  return r;
}

// Sets the elements whose bit in `valid` is 0 to zero bits.
template <class T>
__device__ inline Vector KeepValid(const Vector& v, uint32_t valid) {
  Vector r = v;
#pragma unroll
  for (uint32_t c = 0; c < kVectorLanes<T>; ++c) {
    if ((valid >> c & 1) != 0) continue;
    if constexpr (sizeof(T) == 8) {
      r.word[2 * c] = 0;
      r.word[2 * c + 1] = 0;
    } else {
      constexpr uint32_t kPerWord = 4 / sizeof(T);
      constexpr uint32_t kBits = sizeof(T) == 4 ? ~0u : (1u << (8 * sizeof(T))) - 1;
      r.word[c / kPerWord] &= ~(kBits << (c % kPerWord * 8 * sizeof(T)));
    }
  }
  return r;
}

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

}  // namespace reduction::kernels::cuda
