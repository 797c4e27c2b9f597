// Reductions of many segments of an array at once.
#pragma once

#include <cstdint>

#include "kernels/cuda/leaf_pass.cuh"
#include "kernels/cuda/segment_kernels.h"
#include "kernels/cuda/segment_sums.cuh"

namespace reduction::kernels::cuda {

// Where segments go to be folded: each group of leaves of a segment of several, and the segment
// itself where it has several groups. One thread calls for the last leaf of a group.
__device__ inline void ListGroup(const SegmentArgs& args, uint64_t segment, uint32_t leaf,
                                 bool last_leaf) {
  const uint32_t group = leaf / kFoldNodes;
  args.groups[atomicAdd(&args.list_sizes[0], 1u)] = segment << 24 | group;
  if (last_leaf && group != 0) args.parted[atomicAdd(&args.list_sizes[1], 1u)] = segment;
}

// A leaf of a segment, by the whole block.
template <class T, Components kComponents, bool kIgnoreNan, uint32_t kRows, class Share>
__device__ inline void ReduceSegmentLeaf(const SegmentArgs& args, uint64_t segment, uint64_t begin,
                                         uint64_t end, uint32_t leaf, uint32_t window,
                                         Share (&shares)[kRowWarps<T>]) {
  const uint64_t at = begin + uint64_t{leaf} * kLeafLanes<T>;
  const uint32_t count = static_cast<uint32_t>(min(end - at, uint64_t{kLeafLanes<T>}));
  const bool last = at + count == end;
  ColumnSums<T, kComponents, kIgnoreNan> sums;
  const T* const x = reinterpret_cast<const T*>(args.x) + at;
  AddLeaf<kRows>(x, x, count, &sums);
  __syncthreads();  // the shares of the leaf before have been read
  sums.Write(count, threadIdx.x, &shares[threadIdx.x / kWarpThreads]);
  __syncthreads();
  const bool whole = last && leaf == 0;
  const uint64_t node = leaf == 0 ? args.windows + window : window;
  sums.Store(shares, count, uint64_t{leaf} * kLeafLanes<T>,
             whole ? NodePlace{args.results + segment, args.layout.segments}
                   : NodePlace{args.nodes + node, 2 * uint64_t{args.windows}});
  if (!whole && threadIdx.x == 0 && (last || leaf % kFoldNodes == kFoldNodes - 1)) {
    ListGroup(args, segment, leaf, last);
  }
}

// A segment of 1 to kWarpRows rows, by a warp.
template <class T, Components kComponents, bool kIgnoreNan, class Share>
__device__ inline void ReduceShortSegment(const SegmentArgs& args, uint64_t segment, uint64_t begin,
                                          uint32_t count, Share (&shares)[kRowWarps<T>]) {
  const T* const x = reinterpret_cast<const T*>(args.x) + begin;
  const uint32_t rows = (count + kRowLanes<T> - 1) / kRowLanes<T>;
  const T first = FirstParticipant<T, kIgnoreNan>(x, count, *x);
#pragma unroll 1
  for (uint32_t part = 0; part < kRowWarps<T>; ++part) {
    const uint32_t column = part * kWarpThreads + WarpLane();
    const int32_t bytes =
        static_cast<int32_t>(count * sizeof(T)) - static_cast<int32_t>(column * sizeof(Word<T>));
    ColumnSums<T, kComponents, kIgnoreNan> sums;
    sums.Begin(first);
    Word<T> words[kWarpRows];
    Column<T>(x, column).LoadSome(0, bytes, words);
#pragma unroll
    for (uint32_t row = 0; row < kWarpRows; ++row) {
      if (row >= rows) break;
      sums.template Add<true>(words[row], 0, row, ValidLanes<T>(row, column, count));
    }
    sums.EndRows(words);
    sums.Write(count, column, &shares[part]);
  }
  __syncwarp();
  ColumnSums<T, kComponents, kIgnoreNan> whole;
  whole.Begin(first);
  whole.template Store<true>(shares, count, 0, {args.results + segment, args.layout.segments});
  __syncwarp();  // the shares have been read
}

// Segments that a block finds too long for a warp.
struct LongSegments {
  static constexpr uint32_t kMost = kRowsPerLeaf / kWarpRows + 2;  // that can start in a window
  uint64_t segment[kMost];
  uint32_t count;
};

// The segments of at most kWarpRows rows from `first` to before `end`, by the block's warps. Where
// kLong, longer ones go to the list; else there are none.
template <class T, Components kComponents, bool kIgnoreNan, bool kLong, class Share>
__device__ inline void ReduceShortSegments(const SegmentArgs& args, uint64_t window_begin,
                                           uint64_t first, uint64_t end,
                                           Share (&shares)[kRowWarps<T>], LongSegments* long_list) {
  constexpr uint32_t kWarps = kRowWarps<T>;
  constexpr bool kFloatSum = kComponents == kSumSet && kIsFloating<T>;
  const T* const window = reinterpret_cast<const T*>(args.x) + window_begin;
  // All warps have as much work, in batches of a segment a thread.
  const uint32_t segments = static_cast<uint32_t>(end - first);
  if (segments == 0) return;
  const uint32_t rounds = (segments + kWarps * kWarpThreads - 1) / (kWarps * kWarpThreads);
  const uint32_t batch = (segments + kWarps * rounds - 1) / (kWarps * rounds);
  for (uint64_t base = first + threadIdx.x / kWarpThreads * batch; base < end;
       base += kWarps * batch) {
    const uint32_t number = static_cast<uint32_t>(min(end - base, uint64_t{batch}));
    ShortSegment place;
    bool is_long = false;
    if (WarpLane() < number) {
      const uint64_t begin = args.layout.Begin(base + WarpLane());
      const uint64_t length = args.layout.Begin(base + WarpLane() + 1) - begin;
      is_long = kLong && length > kWarpRows * kRowLanes<T>;
      if (is_long) long_list->segment[atomicAdd(&long_list->count, 1u)] = base + WarpLane();
      place.begin_and_count = static_cast<uint32_t>(begin - window_begin) << 16 |
                              (is_long ? 0 : static_cast<uint32_t>(length));
    }
    const uint32_t any_long = kLong ? __ballot_sync(kWholeWarp, is_long) : 0;
    if constexpr (kFloatSum) {
      const uint32_t most = WarpMax(place.count());
      if (any_long == 0 && most <= kRowLanes<T>) {
        SumTinySegments<T, kIgnoreNan>(args, window, base, place, number, most);
        continue;
      }
    }
#pragma unroll 1
    for (uint32_t i = 0; i < number; ++i) {
      const ShortSegment own = place.Of(i);
      if (own.count() != 0) {
        if constexpr (kFloatSum) {
          SumShortSegment<T, kIgnoreNan>(args, base + i, window_begin + own.begin(), own.count());
        } else {
          ReduceShortSegment<T, kComponents, kIgnoreNan>(args, base + i, window_begin + own.begin(),
                                                         own.count(), shares);
        }
      } else if ((any_long >> i & 1) == 0 && WarpLane() == 0) {
        StoreNode<kIsFloating<T>, kComponents>(State{}, args.results, args.layout.segments,
                                               static_cast<uint32_t>(base + i));
      }
    }
  }
}

// What is known of the segments of a launch: equal ones are all short or all long.
enum class SegmentKind { kAny, kEqualShort, kEqualLong };

// One-dimensional grid of a block of kRowWords<T> threads a window.
template <class T, Components kComponents, bool kIgnoreNan, SegmentKind kKind, uint32_t kRows,
          uint32_t kMinBlocks>
__global__ void __launch_bounds__(kRowWords<T>, kMinBlocks)
    SegmentPass(const __grid_constant__ SegmentArgs args) {
  using Sums = ColumnSums<T, kComponents, kIgnoreNan>;
  constexpr bool kEqual = kKind != SegmentKind::kAny;
  constexpr uint32_t kWarps = kRowWarps<T>;
  __shared__ typename Sums::Share shares[kWarps][kWarps];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  const SegmentLayout& layout = args.layout;
  const uint32_t window = blockIdx.x;
  const uint64_t window_begin = uint64_t{window} * kLeafLanes<T>;
  const uint64_t window_end = min(window_begin + kLeafLanes<T>, args.count);
  const auto first_from = [&](uint32_t of_window, uint64_t at) {
    return kEqual || layout.offsets == nullptr ? layout.FirstFrom(at)
                                               : uint64_t{args.first_segment[of_window]};
  };
  const uint64_t first = first_from(window, window_begin);
  const uint64_t end =
      window + 1 < args.windows ? first_from(window + 1, window_end) : layout.segments;
  auto& own_shares = shares[threadIdx.x / kWarpThreads];
  if constexpr (kKind == SegmentKind::kEqualShort) {
    ReduceShortSegments<T, kComponents, kIgnoreNan, false>(args, window_begin, first, end,
                                                           own_shares, nullptr);
    return;
  }
  __shared__ LongSegments long_list;
  uint32_t listed = kEqual ? static_cast<uint32_t>(end - first) : 0;
  if (!kEqual && first < end) {
    if (threadIdx.x == 0) long_list.count = 0;
    __syncthreads();
    ReduceShortSegments<T, kComponents, kIgnoreNan, true>(args, window_begin, first, end,
                                                          own_shares, &long_list);
    __syncthreads();
    listed = long_list.count;
  }
  // The segment that began before the window, if a leaf of it starts here.
  if (first > 0) {
    const uint64_t begin = layout.Begin(first - 1);
    const uint64_t leaf = (window_begin - begin + kLeafLanes<T> - 1) / kLeafLanes<T>;
    const uint64_t at = begin + leaf * kLeafLanes<T>;
    const uint64_t segment_end = layout.Begin(first);
    if (at < segment_end && at < window_end) {
      ReduceSegmentLeaf<T, kComponents, kIgnoreNan, kRows>(
          args, first - 1, begin, segment_end, static_cast<uint32_t>(leaf), window, shares[0]);
    }
  }
  for (uint32_t i = 0; i < listed; ++i) {
    const uint64_t segment = kEqual ? first + i : long_list.segment[i];
    ReduceSegmentLeaf<T, kComponents, kIgnoreNan, kRows>(
        args, segment, layout.Begin(segment), layout.Begin(segment + 1), 0, window, shares[0]);
  }
}

template <class T, Components kComponents, bool kIgnoreNan>
const void* SegmentPassFor(SegmentKind kind) {
  constexpr LoopShape kLoop = TunedLoop(kComponents, sizeof(T), kIsFloating<T>);
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  // Equal segments have kernels of their own where they gain by it.
  if constexpr (kComponents == kSumSet && kIsFloating<T>) {
    if (kind == SegmentKind::kEqualShort) {
      return address(&SegmentPass<T, kComponents, kIgnoreNan, SegmentKind::kEqualShort, kLoop.rows,
                                  kLoop.min_blocks>);
    }
    if (kind == SegmentKind::kEqualLong) {
      return address(&SegmentPass<T, kComponents, kIgnoreNan, SegmentKind::kEqualLong, kLoop.rows,
                                  kLoop.min_blocks>);
    }
  }
  return address(
      &SegmentPass<T, kComponents, kIgnoreNan, SegmentKind::kAny, kLoop.rows, kLoop.min_blocks>);
}

template <class T, bool kIgnoreNan>
const void* SegmentPassFor(Components set, SegmentKind kind) {
  switch (set) {
    case kSumSet:
      return SegmentPassFor<T, kSumSet, kIgnoreNan>(kind);
    case kExtremaSet:
      return SegmentPassFor<T, kExtremaSet, kIgnoreNan>(kind);
    default:
      return SegmentPassFor<T, kAllSet, kIgnoreNan>(kind);
  }
}

template <class T>
const void* SegmentPassOf(Components set, NanPolicy nan_policy, uint64_t length) {
  SegmentKind kind = SegmentKind::kAny;
  if (length != 0) {
    kind = length <= kWarpRows * kRowLanes<T> ? SegmentKind::kEqualShort : SegmentKind::kEqualLong;
  }
  if constexpr (kIsFloating<T>) {
    if (nan_policy == NanPolicy::kIgnore) return SegmentPassFor<T, true>(set, kind);
  }
  return SegmentPassFor<T, false>(set, kind);
}

}  // namespace reduction::kernels::cuda
