// Statistics that one pass over an array can give, and the state components each is made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/element_type.h"

namespace reduction::kernels {

// Values equal those of reduction.v1.Statistic.
enum class Statistic : uint8_t {
  kSum = 1,
  kMin = 2,
  kMax = 3,
  kArgmin = 4,
  kArgmax = 5,
  kMean = 6,
  kVariance = 7,
  kStandardDeviation = 8,
  kSumOfSquares = 9,
  kL1Norm = 10,
  kL2Norm = 11,
  kNanCount = 12,
  kNonzeroCount = 13,
  kDot = 14,  // of two arrays; never together with another statistic
};

inline constexpr Statistic kAllStatistics[] = {
    Statistic::kSum,          Statistic::kMin,
    Statistic::kMax,          Statistic::kArgmin,
    Statistic::kArgmax,       Statistic::kMean,
    Statistic::kVariance,     Statistic::kStandardDeviation,
    Statistic::kSumOfSquares, Statistic::kL1Norm,
    Statistic::kL2Norm,       Statistic::kNanCount,
    Statistic::kNonzeroCount, Statistic::kDot,
};

// "sum", "argmin", "standard_deviation", …
std::string_view StatisticName(Statistic statistic);

// What to do with NaN elements. Values equal those of reduction.v1.NanPolicy.
enum class NanPolicy : uint8_t { kPropagate = 1, kIgnore = 2 };

// How blocks of a GPU combine. Values equal those of reduction.v1.Algorithm.
enum class Algorithm : uint8_t { kTwoPass = 1, kAtomic = 2 };

// Components of a State: what a pass has to accumulate. A bit set.
using Components = uint32_t;
inline constexpr Components kSumComponent = 1u << 0;       // sum or integer_sum
inline constexpr Components kExtremaComponent = 1u << 1;   // min_key, max_key
inline constexpr Components kArgComponent = 1u << 2;       // argmin, argmax (needs extrema)
inline constexpr Components kSquaresComponent = 1u << 3;   // sum_squares
inline constexpr Components kMomentsComponent = 1u << 4;   // shift, s1, m2
inline constexpr Components kL1Component = 1u << 5;        // l1
inline constexpr Components kNanCountComponent = 1u << 6;  // nan_count
inline constexpr Components kNonzeroComponent = 1u << 7;   // nonzero_count
inline constexpr Components kDotComponent = 1u << 8;       // sum or integer_sum, of products

inline constexpr Components kAllOneArrayComponents = (1u << 8) - 1;

// What `statistic` is computed from. The element count is always kept.
inline Components ComponentsOf(Statistic statistic) {
  switch (statistic) {
    case Statistic::kSum:
    case Statistic::kMean:
      return kSumComponent;
    case Statistic::kMin:
    case Statistic::kMax:
      return kExtremaComponent;
    case Statistic::kArgmin:
    case Statistic::kArgmax:
      return kExtremaComponent | kArgComponent;
    case Statistic::kVariance:
    case Statistic::kStandardDeviation:
      return kMomentsComponent;
    case Statistic::kSumOfSquares:
    case Statistic::kL2Norm:
      return kSquaresComponent;
    case Statistic::kL1Norm:
      return kL1Component;
    case Statistic::kNanCount:
      return kNanCountComponent;
    case Statistic::kNonzeroCount:
      return kNonzeroComponent;
    case Statistic::kDot:
      break;
  }
  return kDotComponent;
}

// What a pass over an array computes. Equal plans may share a launch.
struct Plan {
  ElementType type = ElementType::kFloat32;
  Components components = kSumComponent;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  Algorithm algorithm = Algorithm::kTwoPass;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// Whether one atomic a block can serve `components`; otherwise kTwoPass runs.
constexpr bool AtomicServes(Components components) {
  return components == kDotComponent || (components & ~(kSumComponent | kExtremaComponent)) == 0;
}

}  // namespace reduction::kernels
