// Everything a thread accumulates over its column of a leaf, for one type, set and NaN policy, and
// how the columns of a warp and the warps of a leaf combine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/extrema.cuh"
#include "kernels/cuda/integer_sum.cuh"
#include "kernels/cuda/nodes.cuh"
#include "kernels/cuda/trees.cuh"

namespace reduction::kernels::cuda {

template <class T, Components kComponents, bool kIgnoreNan>
class ColumnSums {
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

  struct Nothing {};
  struct Integer {  // Int128, for shared memory
    uint64_t low;
    int64_t high;
  };

 public:
  // What is known of the columns of a warp.
  struct Share {
    std::conditional_t<kTrees != 0, double[kTreeSlots], Nothing> trees;
    std::conditional_t<kIntegerSum, Integer, Nothing> integer_sum;
    std::conditional_t<kExtrema, ExtremaShare<T>, Nothing> extrema;
    uint32_t nans;
    uint32_t nonzero;
  };

  // `first`: the first element of the leaf that takes part, which moments are taken about.
  __device__ void Begin(T first) {
    if constexpr (kMoments) shift_ = static_cast<Shift>(Widen(first));
  }

  // Adds the thread's word of row `row` of the leaf (and of the second array). Where kMasked,
  // elements whose bit in `valid` is 0 are missing and have zero bits.
  template <bool kMasked>
  __device__ void Add(Word<T> x, Word<T> y, uint32_t row, uint32_t valid) {
    if constexpr (kIntegerSum) integer_.Add(x, y);
    if constexpr (kExtrema) extrema_.template Add<kMasked>(x, row, valid);
#pragma unroll
    for (uint32_t c = 0; c < kLanes; ++c) {
      const bool missing = kMasked && (valid >> c & 1) == 0;
      const T element = Element<T>(x, c);
      if constexpr (kDot) {
        if constexpr (kFloating) AddProduct(c, element, Element<T>(y, c));
      } else {
        const bool nan = kNans && !kNansBySquares && DeviceIsNan(element);
        if constexpr (kNans && !kNansBySquares) nans_ += nan ? 1.0f : 0.0f;
        if constexpr (kNonzero) {
          nonzero_ += IsNonzero(element) && !(kIgnoreNan && nan) ? 1.0f : 0.0f;
        }
        const bool skip = missing || (kIgnoreNan && nan);
        if constexpr (kSmallInteger) {
          AddSmall(element, skip);
        } else if constexpr (kTrees != 0) {
          AddReal(c, Widen(element), skip);
        }
      }
    }
  }

  // After the rows of `words` have been added, and before the next.
  template <uint32_t kRows>
  __device__ void EndRows(const Word<T> (&words)[kRows]) {
    if constexpr (kNansBySquares) {
#pragma unroll
      for (uint32_t c = 0; c < kLanes; ++c) {
        if (real_[kSquaresTree][c] == real_[kSquaresTree][c]) continue;
#pragma unroll
        for (uint32_t k = 0; k < kRows; ++k) {
          nans_ += DeviceIsNan(Element<T>(words[k], c)) ? 1.0f : 0.0f;
        }
      }
    }
  }

  // Writes what the warp has of a leaf of `count` elements; all of its threads call. The thread's
  // column is word `column` of the rows.
  __device__ void Write(uint32_t count, uint32_t column, Share* to) {
    const bool writer = WarpLane() == 0;
    if constexpr (kTrees != 0) {
      if constexpr (kSmallInteger) {
        if constexpr (kSquares) WriteExact(WarpSum(squares_), kSquaresTree, to);
        if constexpr (kL1) WriteExact(WarpSum(l1_), kL1Tree, to);
        if constexpr (kMoments) {
          WriteExact(static_cast<int32_t>(WarpSum(static_cast<uint32_t>(s1_))), kS1Tree, to);
          WriteExact(WarpSum(s2_), kS2Tree, to);
        }
      } else {
        double roots[kTreeSlots] = {};
#pragma unroll
        for (uint32_t i = 0; i < kTrees; ++i) roots[i] = LaneTree(real_[i]);
        const double root = WarpTrees(roots);
        if (WarpLane() < kTreeSlots) to->trees[WarpLane()] = root;
      }
    }
    if constexpr (kIntegerSum) {
      const Int128 sum = integer_.Total();
      if (writer) to->integer_sum = {sum.low, sum.high};
    }
    if constexpr (kExtrema) {
      const ExtremaShare<T> share = extrema_.Share(count, column);
      if (writer) to->extrema = share;
    }
    if constexpr (kNans) {
      const uint32_t nans = WarpSum(static_cast<uint32_t>(nans_));
      if (writer) to->nans = nans;
    }
    if constexpr (kNonzero) {
      const uint32_t nonzero = WarpSum(static_cast<uint32_t>(nonzero_));
      if (writer) to->nonzero = nonzero;
    }
  }

  // Stores the node of the leaf of `count` >= 1 elements, from the shares of its warps. All threads
  // of the block call, so that warps store different fields; where kOneWarp, one warp does it all.
  // `first_index`: of the leaf's first element in the array.
  template <bool kOneWarp = false>
  __device__ void Store(const Share (&shares)[kRowWarps<T>], uint32_t count, uint64_t first_index,
                        const NodePlace& place) const {
    using Words = NodeWords<kFloating, kComponents>;
    const auto mine = [](uint32_t part) {
      return kOneWarp || threadIdx.x / kWarpThreads == part % kRowWarps<T>;
    };
    const uint32_t lane = WarpLane();
    uint32_t participants = count;
    if constexpr (kIgnoreNan && kFloating) participants -= Nans(shares);
    if constexpr (kTrees != 0) {
      if (mine(0)) StoreTrees(shares, participants, place);
    }
    if constexpr (kExtrema) {
      if (mine(1) && lane == 0) {
        const ExtremaShare<T> all = Extremes(shares);
        place.Store(Words::kMin, offsetof(State, min_key), WidenKey(all.min));
        place.Store(Words::kMin + 1, offsetof(State, max_key), WidenKey(all.max));
        if constexpr (kArg) {
          place.Store(Words::kArg, offsetof(State, argmin), Index(all.first_min, first_index));
          place.Store(Words::kArg + 1, offsetof(State, argmax), Index(all.first_max, first_index));
        }
      }
    }
    if (mine(2) && lane == 0) {
      place.Store(0, offsetof(State, count), uint64_t{participants});
      if constexpr (kIntegerSum) {
        const Int128 sum = IntegerTotal(shares);
        place.Store(Words::kSum, offsetof(State, integer_sum), sum.low);
        place.Store(Words::kSum + 1, offsetof(State, integer_sum) + sizeof(uint64_t), sum.high);
      }
      if constexpr ((kComponents & kNanCountComponent) != 0) {
        place.Store(Words::kNans, offsetof(State, nan_count), uint64_t{Nans(shares)});
      }
      if constexpr (kNonzero) {
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
    if constexpr (kIgnoreNan && kFloating) state.count -= Nans(shares);
    if constexpr (kIntegerSum) state.integer_sum = IntegerTotal(shares);
    if constexpr (kRealSum) state.sum = Root(shares, kSumTree);
    if constexpr (kExtrema) {
      const ExtremaShare<T> all = Extremes(shares);
      state.min_key = WidenKey(all.min);
      state.max_key = WidenKey(all.max);
    }
    return state;
  }

 private:
  // Sums of small integers are integers below 2^53, which float64 holds exactly: any order gives
  // the same bits. A leaf holds 2^14 elements of 8 bits, with squares below 2^16, or 2^13 of 16.
  using Square = std::conditional_t<sizeof(T) == 1, uint32_t, uint64_t>;
  using Shift = std::conditional_t<kSmallInteger, int32_t, double>;

  __device__ static bool IsNonzero(T x) {
    if constexpr (std::is_arithmetic_v<T>) {
      return x != 0;
    } else {
      return WidenToFloat(x) != 0;
    }
  }

  __device__ void AddReal(uint32_t c, double x, bool skip) {
    const double value = skip ? 0.0 : x;
    if constexpr (kRealSum) real_[kSumTree][c] += value;
    if constexpr (kSquares) real_[kSquaresTree][c] = fma(value, value, real_[kSquaresTree][c]);
    if constexpr (kL1) real_[kL1Tree][c] += fabs(value);
    if constexpr (kMoments) {
      const double d = skip ? 0.0 : x - shift_;
      real_[kS1Tree][c] += d;
      real_[kS2Tree][c] = fma(d, d, real_[kS2Tree][c]);
    }
  }

  __device__ void AddProduct(uint32_t c, T x, T y) {
    double a = Widen(x);
    double b = Widen(y);
    if constexpr (kIgnoreNan) {
      if (DeviceIsNan(x) || DeviceIsNan(y)) {
        nans_ += 1;
        a = 0;
        b = 0;
      }
    }
    real_[kSumTree][c] = fma(a, b, real_[kSumTree][c]);
  }

  // A missing `x` is 0.
  __device__ void AddSmall(T x, bool skip) {
    const int32_t value = x;
    if constexpr (kSquares) {
      squares_ += static_cast<uint32_t>(value) * static_cast<uint32_t>(value);
    }
    if constexpr (kL1) l1_ += static_cast<uint32_t>(value < 0 ? -value : value);
    if constexpr (kMoments) {
      const int32_t d = skip ? 0 : value - shift_;
      s1_ += d;
      s2_ += static_cast<uint32_t>(d) * static_cast<uint32_t>(d);
    }
  }

  template <class N>
  __device__ static void WriteExact(N sum, uint32_t tree, Share* to) {
    if (WarpLane() == 0) to->trees[tree] = static_cast<double>(sum);
  }

  // Thread t of the first warp stores tree t.
  __device__ void StoreTrees(const Share (&shares)[kRowWarps<T>], uint32_t participants,
                             const NodePlace& place) const {
    using Words = NodeWords<kFloating, kComponents>;
    const uint32_t tree = WarpLane();
    double root = Root(shares, tree % kTreeSlots);
    uint32_t word = Words::kSum;
    uint32_t offset = offsetof(State, sum);
    const auto holds = [&](uint32_t number, uint32_t in_words, uint32_t in_state) {
      if (tree != number) return;
      word = in_words;
      offset = in_state;
    };
    if constexpr (kSquares) holds(kSquaresTree, Words::kSquares, offsetof(State, sum_squares));
    if constexpr (kL1) holds(kL1Tree, Words::kL1, offsetof(State, l1));
    if constexpr (kMoments) {
      const double s1 = __shfl_sync(kWholeWarp, root, kS1Tree);
      if (tree == kS2Tree && participants != 0) root = CentredSquares(s1, root, participants);
      if (tree == kTrees) root = participants != 0 ? static_cast<double>(shift_) : 0;
      holds(kS1Tree, Words::kMoments + 1, offsetof(State, s1));
      holds(kS2Tree, Words::kMoments + 2, offsetof(State, m2));
      holds(kTrees, Words::kMoments, offsetof(State, shift));
    }
    if (tree <= kTrees - 1 + kMoments) place.Store(word, offset, root);
  }

  __device__ static uint32_t Nans(const Share (&shares)[kRowWarps<T>]) {
    if constexpr (!kNans) return 0;
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
      all = CombineExtrema<T, kArg>(all, shares[i].extrema);
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

  double real_[kTrees != 0 && !kSmallInteger ? kTrees : 1][kLanes] = {};
  std::conditional_t<kIntegerSum, IntegerSum<T, kDot>, Nothing> integer_;
  std::conditional_t<kExtrema, Extrema<T, kIgnoreNan, kArg>, Nothing> extrema_;
  Square squares_ = 0;
  Square s2_ = 0;
  uint32_t l1_ = 0;
  int32_t s1_ = 0;
  Shift shift_ = 0;
  float nans_ = 0;  // a comparison gives a float in one instruction
  float nonzero_ = 0;
};

}  // namespace reduction::kernels::cuda
