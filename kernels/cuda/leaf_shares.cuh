// What the warps of a block have of a leaf, and how that becomes the leaf's node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/nodes.cuh"
#include "kernels/cuda/packed_extrema.cuh"
#include "kernels/cuda/trees.cuh"

namespace reduction::kernels::cuda {

struct Nothing {};

// What is accumulated of a leaf, for one type, set and NaN policy.
template <class T, Components kComponents, bool kIgnoreNan>
struct LeafParts {
  static constexpr bool kFloating = kIsFloating<T>;
  static constexpr bool kDot = kComponents == kDotComponent;
  static constexpr bool kSmallInteger = !kFloating && sizeof(T) <= 2;
  static constexpr bool kIntegerSum =
      !kFloating && (kComponents & (kSumComponent | kDotComponent)) != 0;
  static constexpr bool kRealSum =
      kFloating && (kComponents & (kSumComponent | kDotComponent)) != 0;
  static constexpr bool kExtrema = (kComponents & kExtremaComponent) != 0;
  static constexpr bool kArg = (kComponents & kArgComponent) != 0;
  static constexpr bool kSquares = (kComponents & kSquaresComponent) != 0;
  static constexpr bool kMoments = (kComponents & kMomentsComponent) != 0;
  static constexpr bool kL1 = (kComponents & kL1Component) != 0;
  static constexpr bool kNans =
      kFloating && (kIgnoreNan || (kComponents & kNanCountComponent) != 0);
  static constexpr bool kNonzero = (kComponents & kNonzeroComponent) != 0;
  // A sum of squares is a NaN where, and only where, one of its elements is: none are counted until
  // it is. For two elements a word; with one, keeping the words costs more than counting.
  static constexpr bool kNansBySquares = kNans && kSquares && !kIgnoreNan && sizeof(T) == 2;
  static constexpr uint32_t kLanes = kWordLanes<T>;

  // Sums in the fixed order, by number.
  static constexpr uint32_t kSumTree = 0;
  static constexpr uint32_t kSquaresTree = kSumTree + kRealSum;
  static constexpr uint32_t kL1Tree = kSquaresTree + kSquares;
  static constexpr uint32_t kS1Tree = kL1Tree + kL1;
  static constexpr uint32_t kS2Tree = kS1Tree + kMoments;
  static constexpr uint32_t kTrees = kS2Tree + kMoments;
  static constexpr uint32_t kTreeSlots = PowerOfTwoFrom(kTrees);

  // Of what moments are taken about.
  using Shift = std::conditional_t<kSmallInteger, int32_t, double>;

  struct SharedInt128 {
    uint64_t low;
    int64_t high;
  };
  // What is known of the columns of a warp.
  struct Share {
    std::conditional_t<kTrees != 0, double[kTreeSlots], Nothing> trees;
    std::conditional_t<kIntegerSum, SharedInt128, Nothing> integer_sum;
    std::conditional_t<kExtrema, ExtremaShare<T>, Nothing> extrema;
    uint32_t nans;
    uint32_t nonzero;
  };
};

// Functions of the shares of all warps of a leaf.
template <class T, Components kComponents, bool kIgnoreNan>
class LeafShares {
  using P = LeafParts<T, kComponents, kIgnoreNan>;
  using Share = typename P::Share;
  using Shift = typename P::Shift;

 public:
  // Stores the node of the leaf of `count` >= 1 elements, from the shares of its warps. All threads
  // of the block call, so that warps store different fields; where kOneWarp, one warp does it all.
  // `first_index`: of the leaf's first element in the array; `shift`: what moments are taken about.
  template <bool kOneWarp = false>
  __device__ static void Store(const Share (&shares)[kRowWarps<T>], uint32_t count,
                               uint64_t first_index, Shift shift, const NodePlace& place) {
    using Words = NodeWords<P::kFloating, kComponents>;
    const auto mine = [](uint32_t part) {
      return kOneWarp || threadIdx.x / kWarpThreads == part % kRowWarps<T>;
    };
    const uint32_t lane = WarpLane();
    uint32_t participants = count;
    if constexpr (kIgnoreNan && P::kFloating) participants -= Nans(shares);
    if constexpr (P::kTrees != 0) {
      if (mine(0)) StoreTrees(shares, participants, shift, place);
    }
    if constexpr (P::kExtrema) {
      if (mine(1) && lane == 0) {
        const ExtremaShare<T> all = Extremes(shares);
        place.Store(Words::kMin, offsetof(State, min_key), WidenKey(all.min));
        place.Store(Words::kMin + 1, offsetof(State, max_key), WidenKey(all.max));
        if constexpr (P::kArg) {
          place.Store(Words::kArg, offsetof(State, argmin), Index(all.first_min, first_index));
          place.Store(Words::kArg + 1, offsetof(State, argmax), Index(all.first_max, first_index));
        }
      }
    }
    if (mine(2) && lane == 0) {
      place.Store(0, offsetof(State, count), uint64_t{participants});
      if constexpr (P::kIntegerSum) {
        const Int128 sum = IntegerTotal(shares);
        place.Store(Words::kSum, offsetof(State, integer_sum), sum.low);
        place.Store(Words::kSum + 1, offsetof(State, integer_sum) + sizeof(uint64_t), sum.high);
      }
      if constexpr ((kComponents & kNanCountComponent) != 0) {
        place.Store(Words::kNans, offsetof(State, nan_count), uint64_t{Nans(shares)});
      }
      if constexpr (P::kNonzero) {
        const uint32_t nonzero = Fold(shares, [](const Share& s) { return s.nonzero; });
        place.Store(Words::kNonzero, offsetof(State, nonzero_count), uint64_t{nonzero});
      }
    }
  }

  // The sum and the extrema of all that the block's threads added, from the shares of their warps,
  // as a state; `count` elements took part or were ignored.
  __device__ static State Total(const Share (&shares)[kRowWarps<T>], uint64_t count) {
    State state;
    state.count = count;
    if constexpr (kIgnoreNan && P::kFloating) state.count -= Nans(shares);
    if constexpr (P::kIntegerSum) state.integer_sum = IntegerTotal(shares);
    if constexpr (P::kRealSum) state.sum = Root(shares, P::kSumTree);
    if constexpr (P::kExtrema) {
      const ExtremaShare<T> all = Extremes(shares);
      state.min_key = WidenKey(all.min);
      state.max_key = WidenKey(all.max);
    }
    return state;
  }

 private:
  // Thread t of the first warp stores tree t.
  __device__ static void StoreTrees(const Share (&shares)[kRowWarps<T>], uint32_t participants,
                                    Shift shift, const NodePlace& place) {
    using Words = NodeWords<P::kFloating, kComponents>;
    const uint32_t tree = WarpLane();
    double root = Root(shares, tree % P::kTreeSlots);
    uint32_t word = Words::kSum;
    uint32_t offset = offsetof(State, sum);
    const auto holds = [&](uint32_t number, uint32_t in_words, uint32_t in_state) {
      if (tree != number) return;
      word = in_words;
      offset = in_state;
    };
    if constexpr (P::kSquares)
      holds(P::kSquaresTree, Words::kSquares, offsetof(State, sum_squares));
    if constexpr (P::kL1) holds(P::kL1Tree, Words::kL1, offsetof(State, l1));
    if constexpr (P::kMoments) {
      const double s1 = __shfl_sync(kWholeWarp, root, P::kS1Tree);
      if (tree == P::kS2Tree && participants != 0) root = CentredSquares(s1, root, participants);
      if (tree == P::kTrees) root = participants != 0 ? static_cast<double>(shift) : 0;
      holds(P::kS1Tree, Words::kMoments + 1, offsetof(State, s1));
      holds(P::kS2Tree, Words::kMoments + 2, offsetof(State, m2));
      holds(P::kTrees, Words::kMoments, offsetof(State, shift));
    }
    if (tree <= P::kTrees - 1 + P::kMoments) place.Store(word, offset, root);
  }

  __device__ static uint32_t Nans(const Share (&shares)[kRowWarps<T>]) {
    if constexpr (!P::kNans) return 0;
    return Fold(shares, [](const Share& s) { return s.nans; });
  }
  __device__ static Int128 IntegerTotal(const Share (&shares)[kRowWarps<T>]) {
    return Fold(shares, [](const Share& s) {
      Int128 sum;
      sum.low = s.integer_sum.low;
      sum.high = s.integer_sum.high;
      return sum;
    });
  }
  __device__ static auto Extremes(const Share (&shares)[kRowWarps<T>]) {
    ExtremaShare<T> all = shares[0].extrema;
#pragma unroll
    for (uint32_t i = 1; i < kRowWarps<T>; ++i) {
      all = CombineExtrema<T, P::kArg>(all, shares[i].extrema);
    }
    return all;
  }
  __device__ static uint64_t Index(uint32_t position, uint64_t first_index) {
    return position == kNoPosition ? kNoIndex : first_index + position;
  }

  // Combines what the warps have by adjacent pairs.
  template <class F>
  __device__ static auto Fold(const Share (&shares)[kRowWarps<T>], F&& field) {
    const auto left = field(shares[0]) + field(shares[1]);
    if constexpr (kRowWarps<T> == 2) {
      return left;
    } else {
      return left + (field(shares[2]) + field(shares[3]));
    }
  }
  __device__ static double Root(const Share (&shares)[kRowWarps<T>], uint32_t tree) {
    return Fold(shares, [tree](const Share& s) { return s.trees[tree]; });
  }

  // A key of 32 bits as one of 64: a float's identity or NaN stays one.
  __device__ static int64_t WidenKey(Key<T> key) {
    if constexpr (kIsFloating<T> && sizeof(T) <= 4) {
      if (key == kTopKey<T>) return kHighestKey;
      if (key == kBottomKey<T>) return kLowestKey;
    }
    return key;
  }
};

}  // namespace reduction::kernels::cuda
