// Minimum and maximum of a run of leaves by order keys, and the first indexes that hold them.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/vector.cuh"
#include "kernels/cuda/warp.cuh"

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

template <class T>
__device__ inline bool DeviceIsNan(T x) {
  if constexpr (kIsFloating<T> && sizeof(T) <= 4) {
    const float f = WidenToFloat(x);
    return f != f;
  } else {
    return IsNan(x);
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
// they give the other operand, or a NaN under kPropagate.
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

// A thread's extrema over a run. For the indexes it notes the first row that holds each extremum;
// the element within the row is found at the end of the run.
template <class T, bool kIgnoreNan, bool kArg>
class Extrema {
  static constexpr uint32_t kLanes = kVectorLanes<T>;

 public:
  // Elements whose bit in `valid` is 0 are missing; looked at where kMasked.
  template <bool kMasked>
  __device__ void Add(const Vector& x, uint32_t row, uint32_t valid) {
    Key<T> row_min = kTopKey<T>;
    Key<T> row_max = kBottomKey<T>;
    if constexpr (!kMasked && kIsFloating<T> && sizeof(T) <= 4) {
      float low = WidenToFloat(Element<T>(x, 0));
      float high = low;
#pragma unroll
      for (uint32_t c = 1; c < kLanes; ++c) {
        const float f = WidenToFloat(Element<T>(x, c));
        low = MinFloat<kIgnoreNan>(low, f);
        high = MaxFloat<kIgnoreNan>(high, f);
      }
      row_min = MinKey<float, kIgnoreNan>(low);
      row_max = MaxKey<float, kIgnoreNan>(high);
    } else {
#pragma unroll
      for (uint32_t c = 0; c < kLanes; ++c) {
        if (kMasked && (valid >> c & 1) == 0) continue;
        const T element = Element<T>(x, c);
        const Key<T> low = MinKey<T, kIgnoreNan>(element);
        const Key<T> high = MaxKey<T, kIgnoreNan>(element);
        row_min = low < row_min ? low : row_min;
        row_max = high > row_max ? high : row_max;
      }
    }
    if (row_min < min_) {
      min_ = row_min;
      if constexpr (kArg) min_row_ = row;
    }
    if (row_max > max_) {
      max_ = row_max;
      if constexpr (kArg) max_row_ = row;
    }
  }

  // Sets the extrema of the warp's run of `count` elements at `run`, the first of which has index
  // `first_index`; lanes are turned by `shift` (LaneSums).
  __device__ void End(const T* run, uint32_t count, uint64_t first_index, uint32_t shift,
                      State* state) const {
    const Key<T> min = WarpMin(min_);
    const Key<T> max = WarpMax(max_);
    state->min_key = WidenKey(min);
    state->max_key = WidenKey(max);
    if (count == 0) {
      state->min_key = kHighestKey;
      state->max_key = kLowestKey;
    }
    if constexpr (kArg) {
      uint32_t first_min = kNone;
      uint32_t first_max = kNone;
      if (min_ == min) first_min = FirstInRow<true>(run, count, min_row_, min, shift);
      if (max_ == max) first_max = FirstInRow<false>(run, count, max_row_, max, shift);
      first_min = WarpMin(first_min);
      first_max = WarpMin(first_max);
      state->argmin = first_min == kNone ? kNoIndex : first_index + first_min;
      state->argmax = first_max == kNone ? kNoIndex : first_index + first_max;
    }
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  // A key of 32 bits as one of 64: a float's identity or NaN stays one.
  __device__ static int64_t WidenKey(Key<T> key) {
    if constexpr (kIsFloating<T> && sizeof(T) <= 4) {
      if (key == kTopKey<T>) return kHighestKey;
      if (key == kBottomKey<T>) return kLowestKey;
    }
    return key;
  }

  // The first position in this thread's part of `row` whose key is `key`. Rows that hold no such
  // element (all of the thread's are missing or ignored) give kNone.
  template <bool kMin>
  __device__ static uint32_t FirstInRow(const T* run, uint32_t count, uint32_t row, Key<T> key,
                                        uint32_t shift) {
    uint32_t first = kNone;
#pragma unroll 1
    for (uint32_t c = 0; c < kLanes; ++c) {
      const uint32_t lane = (WarpLane() * kLanes + c - shift) % kRowLanes<T>;
      const uint32_t position = row * kRowLanes<T> + lane;
      if (position >= count || position >= first) continue;
      const T element = run[position];
      if (kIgnoreNan && DeviceIsNan(element)) continue;
      const Key<T> found = kMin ? MinKey<T, kIgnoreNan>(element) : MaxKey<T, kIgnoreNan>(element);
      if (found == key) first = position;
    }
    return first;
  }

  Key<T> min_ = kTopKey<T>;
  Key<T> max_ = kBottomKey<T>;
  uint32_t min_row_ = 0;
  uint32_t max_row_ = 0;
};

}  // namespace reduction::kernels::cuda
