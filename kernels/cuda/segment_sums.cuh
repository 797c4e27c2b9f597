// Floating-point sums of segments that a warp reduces: of several at once where they are tiny.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/segment_args.h"
#include "kernels/cuda/trees.cuh"
#include "kernels/cuda/words.cuh"

namespace reduction::kernels::cuda {

// Segments of at most this many rows are reduced by a warp, longer ones by the block.
inline constexpr uint32_t kWarpRows = 8;

// The floating-point sum of a segment of 1 to kWarpRows rows, by a warp: all rows are on their way
// at once, and the trees of the row's parts are one.
template <class T, bool kIgnoreNan>
__device__ inline void SumShortSegment(const SegmentArgs& args, uint64_t segment, uint64_t begin,
                                       uint32_t count) {
  constexpr uint32_t kParts = kRowWarps<T>;
  const T* const x = reinterpret_cast<const T*>(args.x) + begin;
  Word<T> words[kParts][kWarpRows];
#pragma unroll
  for (uint32_t part = 0; part < kParts; ++part) {
    const uint32_t column = part * kWarpThreads + WarpLane();
    const int32_t bytes =
        static_cast<int32_t>(count * sizeof(T)) - static_cast<int32_t>(column * sizeof(Word<T>));
    Column<T>(x, column).LoadSome(0, bytes, words[part]);
  }
  double sums[kParts];
  uint32_t nans = 0;
#pragma unroll
  for (uint32_t part = 0; part < kParts; ++part) {
    double lanes[kWordLanes<T>] = {};
#pragma unroll
    for (uint32_t row = 0; row < kWarpRows; ++row) {
#pragma unroll
      for (uint32_t c = 0; c < kWordLanes<T>; ++c) {
        const double value = Widen(Element<T>(words[part][row], c));  // 0 where there is none
        const bool skip = kIgnoreNan && value != value;
        if constexpr (kIgnoreNan) nans += skip ? 1 : 0;
        lanes[c] += skip ? 0.0 : value;
      }
    }
    sums[part] = LaneTree(lanes);
  }
  double root = WarpTrees(sums);
#pragma unroll
  for (uint32_t step = 1; step < kParts; step *= 2) {
    root += __shfl_xor_sync(kWholeWarp, root, step);
  }
  if constexpr (kIgnoreNan) nans = WarpSum(nans);
  if (WarpLane() == 0) {
    args.results[segment] = count - nans;
    args.results[args.layout.segments + segment] = BitCast<uint64_t>(root);
  }
}

// Where a short segment lies: it begins less than a leaf after its window does, and has at most
// kWarpRows rows.
struct ShortSegment {
  uint32_t begin_and_count = 0;

  __device__ uint32_t begin() const { return begin_and_count >> 16; }  // after the window's begin
  __device__ uint32_t count() const { return begin_and_count & 0xffff; }
  // That of thread `source` of the warp.
  __device__ ShortSegment Of(uint32_t source) const {
    return {__shfl_sync(kWholeWarp, begin_and_count, source)};
  }
};

// Sums of segments of at most kWords words a thread, all in the first row: 8 / kWords segments in a
// batch, and kBatches batches whose elements are on their way together. They begin at segment
// `segment`; thread t has `place` of the t-th segment from there, which is empty from `number` on.
template <class T, bool kIgnoreNan, uint32_t kWords, uint32_t kBatches>
__device__ inline void SumTinySegments(const SegmentArgs& args, const T* window, uint64_t segment,
                                       ShortSegment place, uint32_t number) {
  constexpr uint32_t kSegments = 8 / kWords;
  static_assert(kIsFloating<T> && kSegments * kBatches <= kWarpThreads);
  T elements[kBatches][8][kWordLanes<T>];
#pragma unroll
  for (uint32_t i = 0; i < kBatches * kSegments; ++i) {
    const ShortSegment own = place.Of(i);
#pragma unroll
    for (uint32_t word = 0; word < kWords; ++word) {
      const uint32_t first = (word * kWarpThreads + WarpLane()) * kWordLanes<T>;
#pragma unroll
      for (uint32_t c = 0; c < kWordLanes<T>; ++c) {
        elements[i / kSegments][i % kSegments * kWords + word][c] =
            first + c < own.count() ? window[own.begin() + first + c] : T{};
      }
    }
  }
#pragma unroll
  for (uint32_t batch = 0; batch < kBatches; ++batch) {
    double sums[8];
    uint32_t nans = 0;  // of the segment that this thread stores
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
      double lanes[kWordLanes<T>];
#pragma unroll
      for (uint32_t c = 0; c < kWordLanes<T>; ++c) {
        const double value = Widen(elements[batch][i][c]);
        const bool skip = kIgnoreNan && value != value;
        if constexpr (kIgnoreNan) {
          const uint32_t skipped = __popc(__ballot_sync(kWholeWarp, skip));
          if (WarpLane() == i / kWords) nans += skipped;
        }
        lanes[c] = 0.0 + (skip ? 0.0 : value);
      }
      sums[i] = LaneTree(lanes);
    }
    // Thread t has the root of tree t % 8: word t % kWords of segment t / kWords.
    double root = WarpTrees(sums);
#pragma unroll
    for (uint32_t step = 1; step < kWords; step *= 2) {
      root += __shfl_xor_sync(kWholeWarp, root, step);
    }
    root = __shfl_sync(kWholeWarp, root, WarpLane() * kWords % kWarpThreads);
    const uint32_t own = batch * kSegments + WarpLane();
    const uint32_t count = place.Of(own % kWarpThreads).count();
    if (WarpLane() < kSegments && own < number) {
      args.results[segment + own] = count - nans;
      args.results[args.layout.segments + segment + own] = BitCast<uint64_t>(root);
    }
  }
}

// The same for `number` segments, a thread each: in as few words as the longest, of `most`
// elements, needs.
template <class T, bool kIgnoreNan>
__device__ inline void SumTinySegments(const SegmentArgs& args, const T* window, uint64_t segment,
                                       ShortSegment place, uint32_t number, uint32_t most) {
  constexpr uint32_t kWordElements = kWarpThreads * kWordLanes<T>;
  const auto sum = [&](auto words) {
    constexpr uint32_t kWords = decltype(words)::value;
    constexpr uint32_t kBatches = 2;
    constexpr uint32_t kStep = 8 / kWords * kBatches;  // divides kWarpThreads
#pragma unroll 1
    for (uint32_t i = 0; i < number; i += kStep) {
      SumTinySegments<T, kIgnoreNan, kWords, kBatches>(
          args, window, segment + i, place.Of((WarpLane() + i) % kWarpThreads), number - i);
    }
  };
  if (most <= kWordElements) {
    sum(std::integral_constant<uint32_t, 1>{});
  } else if (most <= 2 * kWordElements) {
    sum(std::integral_constant<uint32_t, 2>{});
  } else {
    sum(std::integral_constant<uint32_t, 4>{});
  }
}

}  // namespace reduction::kernels::cuda
