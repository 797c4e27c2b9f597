// Everything a thread accumulates over its column of a leaf, for one type, set and NaN policy, and
// how the columns of a warp combine.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/integer_sum.cuh"
#include "kernels/cuda/leaf_shares.cuh"
#include "kernels/cuda/trees.cuh"

namespace reduction::kernels::cuda {

template <class T, Components kComponents, bool kIgnoreNan>
class ColumnSums {
  using P = LeafParts<T, kComponents, kIgnoreNan>;

 public:
  using Share = typename P::Share;
  using Shares = LeafShares<T, kComponents, kIgnoreNan>;

  // `first`: the first element of the leaf that takes part, which moments are taken about.
  __device__ void Begin(T first) {
    if constexpr (P::kMoments) shift_ = static_cast<typename P::Shift>(Widen(first));
  }

  // Adds the thread's words of whole rows of the leaf (and of the second array), from `row` on.
  template <uint32_t kRows>
  __device__ void AddRows(const Word<T> (&xs)[kRows], const Word<T> (&ys)[kRows], uint32_t row) {
    constexpr bool kLeafAtOnce = P::kArg && P::kLanes == 1 && kRows == kRowsPerLeaf;
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) {
      Add<false, P::kExtrema && !kLeafAtOnce>(xs[k], ys[k], row + k, ~0u);
    }
    if constexpr (kLeafAtOnce) extrema_.AddLeaf(xs);
    EndRows(xs);
  }

  // Adds the thread's word of row `row`. Where kMasked, elements whose bit in `valid` is 0 are
  // missing and have zero bits.
  template <bool kMasked, bool kWithExtrema = P::kExtrema>
  __device__ void Add(Word<T> x, Word<T> y, uint32_t row, uint32_t valid) {
    if constexpr (P::kIntegerSum) integer_.Add(x, y);
    if constexpr (kWithExtrema) extrema_.template Add<kMasked>(x, row, valid);
#pragma unroll
    for (uint32_t c = 0; c < P::kLanes; ++c) {
      const bool missing = kMasked && (valid >> c & 1) == 0;
      const T element = Element<T>(x, c);
      if constexpr (P::kDot) {
        if constexpr (P::kFloating) AddProduct(c, element, Element<T>(y, c));
      } else {
        const bool nan = P::kNans && !P::kNansBySquares && DeviceIsNan(element);
        if constexpr (P::kNans && !P::kNansBySquares) nans_ += nan ? 1.0f : 0.0f;
        if constexpr (P::kNonzero) {
          nonzero_ += IsNonzero(element) && !(kIgnoreNan && nan) ? 1.0f : 0.0f;
        }
        const bool skip = missing || (kIgnoreNan && nan);
        if constexpr (P::kSmallInteger) {
          AddSmall(element, skip);
        } else if constexpr (P::kTrees != 0) {
          AddReal(c, Widen(element), skip);
        }
      }
    }
  }

  // After the rows of `words` have been added one by one, and before the next.
  template <uint32_t kRows>
  __device__ void EndRows(const Word<T> (&words)[kRows]) {
    if constexpr (P::kNansBySquares) {
#pragma unroll
      for (uint32_t c = 0; c < P::kLanes; ++c) {
        if (real_[P::kSquaresTree][c] == real_[P::kSquaresTree][c]) continue;
#pragma unroll
        for (uint32_t k = 0; k < kRows; ++k) {
          nans_ += DeviceIsNan(Element<T>(words[k], c)) ? 1.0f : 0.0f;
        }
      }
    }
  }

  // The thread's sum so far, which is then 0 again.
  __device__ double TakeColumn() {
    const double sum = LaneTree(real_[P::kSumTree]);
#pragma unroll
    for (double& lane : real_[P::kSumTree]) lane = 0;
    return sum;
  }

  // Writes what the warp has of a leaf of `count` elements; all of its threads call. The thread's
  // column is word `column` of the rows.
  __device__ void Write(uint32_t count, uint32_t column, Share* to) {
    const bool writer = WarpLane() == 0;
    if constexpr (P::kTrees != 0) {
      if constexpr (P::kSmallInteger) {
        if constexpr (P::kSquares) WriteExact(WarpSum(squares_), P::kSquaresTree, to);
        if constexpr (P::kL1) WriteExact(WarpSum(l1_), P::kL1Tree, to);
        if constexpr (P::kMoments) {
          WriteExact(static_cast<int32_t>(WarpSum(static_cast<uint32_t>(s1_))), P::kS1Tree, to);
          WriteExact(WarpSum(s2_), P::kS2Tree, to);
        }
      } else {
        double roots[P::kTreeSlots] = {};
#pragma unroll
        for (uint32_t i = 0; i < P::kTrees; ++i) roots[i] = LaneTree(real_[i]);
        const double root = WarpTrees(roots);
        if (WarpLane() < P::kTreeSlots) to->trees[WarpLane()] = root;
      }
    }
    if constexpr (P::kIntegerSum) {
      const Int128 sum = integer_.Total();
      if (writer) to->integer_sum = {sum.low, sum.high};
    }
    if constexpr (P::kExtrema) {
      const ExtremaShare<T> share = extrema_.Share(count, column);
      if (writer) to->extrema = share;
    }
    if constexpr (P::kNans) {
      const uint32_t nans = WarpSum(static_cast<uint32_t>(nans_));
      if (writer) to->nans = nans;
    }
    if constexpr (P::kNonzero) {
      const uint32_t nonzero = WarpSum(static_cast<uint32_t>(nonzero_));
      if (writer) to->nonzero = nonzero;
    }
  }

  // Stores the node of the leaf of `count` elements that this thread has a column of; as
  // LeafShares::Store().
  template <bool kOneWarp = false>
  __device__ void Store(const Share (&shares)[kRowWarps<T>], uint32_t count, uint64_t first_index,
                        const NodePlace& place) const {
    Shares::template Store<kOneWarp>(shares, count, first_index, shift_, place);
  }

 private:
  // Sums of small integers are integers below 2^53, which float64 holds exactly: any order gives
  // the same bits. A leaf holds 2^14 elements of 8 bits, with squares below 2^16, or 2^13 of 16.
  using Square = std::conditional_t<sizeof(T) == 1, uint32_t, uint64_t>;

  __device__ static bool IsNonzero(T x) {
    if constexpr (std::is_arithmetic_v<T>) {
      return x != 0;
    } else {
      return WidenToFloat(x) != 0;
    }
  }

  __device__ void AddReal(uint32_t c, double x, bool skip) {
    const double value = skip ? 0.0 : x;
    if constexpr (P::kRealSum) real_[P::kSumTree][c] += value;
    if constexpr (P::kSquares)
      real_[P::kSquaresTree][c] = fma(value, value, real_[P::kSquaresTree][c]);
    if constexpr (P::kL1) real_[P::kL1Tree][c] += fabs(value);
    if constexpr (P::kMoments) {
      const double d = skip ? 0.0 : x - shift_;
      real_[P::kS1Tree][c] += d;
      real_[P::kS2Tree][c] = fma(d, d, real_[P::kS2Tree][c]);
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
    real_[P::kSumTree][c] = fma(a, b, real_[P::kSumTree][c]);
  }

  // A missing `x` is 0.
  __device__ void AddSmall(T x, bool skip) {
    const int32_t value = x;
    if constexpr (P::kSquares) {
      squares_ += static_cast<uint32_t>(value) * static_cast<uint32_t>(value);
    }
    if constexpr (P::kL1) l1_ += static_cast<uint32_t>(value < 0 ? -value : value);
    if constexpr (P::kMoments) {
      const int32_t d = skip ? 0 : value - shift_;
      s1_ += d;
      s2_ += static_cast<uint32_t>(d) * static_cast<uint32_t>(d);
    }
  }

  template <class N>
  __device__ static void WriteExact(N sum, uint32_t tree, Share* to) {
    if (WarpLane() == 0) to->trees[tree] = static_cast<double>(sum);
  }

  double real_[P::kTrees != 0 && !P::kSmallInteger ? P::kTrees : 1][P::kLanes] = {};
  std::conditional_t<P::kIntegerSum, IntegerSum<T, P::kDot>, Nothing> integer_;
  std::conditional_t<P::kExtrema, ColumnExtrema<T, kIgnoreNan, P::kArg>, Nothing> extrema_;
  Square squares_ = 0;
  Square s2_ = 0;
  uint32_t l1_ = 0;
  int32_t s1_ = 0;
  typename P::Shift shift_ = 0;
  float nans_ = 0;  // a comparison gives a float in one instruction
  float nonzero_ = 0;
};

}  // namespace reduction::kernels::cuda
