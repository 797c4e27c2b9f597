#include "kernels/result.h"

#include <cmath>
#include <limits>

#include "kernels/float_environment.h"

namespace reduction::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Value Extremum(ElementType type, int64_t key, int64_t nan_key) {
  if (!IsFloating(type)) {
    if (type == ElementType::kUint64) return static_cast<uint64_t>(key) ^ (uint64_t{1} << 63);
    if (type == ElementType::kUint32) return static_cast<uint64_t>(key + (int64_t{1} << 31));
    if (!IsSigned(type)) return static_cast<uint64_t>(key);
    return key;
  }
  if (key == nan_key) return kNan;
  if (type == ElementType::kFloat64) return BitCast<double>(key ^ ((key >> 63) & INT64_MAX));
  const int32_t bits = static_cast<int32_t>(key);
  return static_cast<double>(BitCast<float>(bits ^ ((bits >> 31) & INT32_MAX)));
}

Result IntegerSum(ElementType type, const Int128& sum, OverflowPolicy overflow) {
  const bool is_signed = IsSigned(type);
  const int64_t extension = is_signed && static_cast<int64_t>(sum.low) < 0 ? -1 : 0;
  if (overflow == OverflowPolicy::kCheck && sum.high != extension) {
    return {{}, ResultError::kOverflow};
  }
  if (is_signed) return {static_cast<int64_t>(sum.low)};
  return {sum.low};
}

[[gnu::noinline]] double ExactMeanInDefaultEnvironment(const Int128& sum, uint64_t count) {
  using Uint128 = unsigned __int128;
  Uint128 magnitude = (static_cast<Uint128>(static_cast<uint64_t>(sum.high)) << 64) | sum.low;
  const bool negative = sum.high < 0;
  if (negative) magnitude = -magnitude;
  Uint128 quotient = magnitude / count;
  Uint128 remainder = magnitude % count;
  if (quotient == 0 && remainder == 0) return 0.0;
  // 55 significant bits and a sticky bit below them decide the one rounding.
  int exponent = 0;
  while (quotient < (Uint128{1} << 55)) {
    remainder <<= 1;
    quotient = (quotient << 1) | (remainder >= count ? 1 : 0);
    if (remainder >= count) remainder -= count;
    --exponent;
  }
  if (remainder != 0) quotient |= 1;
  const double mean = std::ldexp(static_cast<double>(quotient), exponent);
  return negative ? -mean : mean;
}

[[gnu::noinline]] Result FinalizeInDefaultEnvironment(Statistic statistic, ElementType type,
                                                      const State& state, uint64_t elements,
                                                      const ResultOptions& options) {
  const bool floating = IsFloating(type);
  const bool empty = elements == 0;
  const double n = static_cast<double>(state.count);
  switch (statistic) {
    case Statistic::kSum:
    case Statistic::kDot:
      if (floating) return {Canonical(state.sum)};
      return IntegerSum(type, state.integer_sum, options.overflow);
    case Statistic::kMin:
    case Statistic::kMax:
      if (empty) return {{}, ResultError::kEmpty};
      if (state.count == 0) return {kNan};
      return {statistic == Statistic::kMin ? Extremum(type, state.min_key, kLowestKey)
                                           : Extremum(type, state.max_key, kHighestKey)};
    case Statistic::kArgmin:
    case Statistic::kArgmax: {
      if (empty) return {{}, ResultError::kEmpty};
      if (state.count == 0) return {};
      return {statistic == Statistic::kArgmin ? state.argmin : state.argmax};
    }
    case Statistic::kMean:
      if (empty) return {{}, ResultError::kEmpty};
      if (state.count == 0) return {kNan};
      if (floating) return {Canonical(state.sum / n)};
      return {ExactMeanInDefaultEnvironment(state.integer_sum, state.count)};
    case Statistic::kVariance:
    case Statistic::kStandardDeviation: {
      if (empty) return {{}, ResultError::kEmpty};
      if (state.count <= options.ddof) return {kNan};
      // Rounding can leave a tiny negative m2; a variance is not.
      const double m2 = state.m2 < 0 ? 0 : state.m2;
      const double variance = m2 / static_cast<double>(state.count - options.ddof);
      return {Canonical(statistic == Statistic::kVariance ? variance : std::sqrt(variance))};
    }
    case Statistic::kSumOfSquares:
      return {Canonical(state.sum_squares)};
    case Statistic::kL1Norm:
      return {Canonical(state.l1)};
    case Statistic::kL2Norm:
      return {Canonical(std::sqrt(state.sum_squares))};
    case Statistic::kNanCount:
      return {state.nan_count};
    case Statistic::kNonzeroCount:
      return {state.nonzero_count};
  }
  return {};
}

}  // namespace

double ExactMean(const Int128& sum, uint64_t count) {
  const DefaultFloatEnvironment environment;
  return ExactMeanInDefaultEnvironment(sum, count);
}

Result Finalize(Statistic statistic, ElementType type, const State& state, uint64_t elements,
                const ResultOptions& options) {
  const DefaultFloatEnvironment environment;
  return FinalizeInDefaultEnvironment(statistic, type, state, elements, options);
}

}  // namespace reduction::kernels
