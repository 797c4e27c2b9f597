#include "tests/bench/checker.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>
#include <variant>

#include "kernels/ladder/ladder.h"
#include "kernels/result.h"

namespace reduction::bench {
namespace {

using kernels::Statistic;

// That are said of one layout: with a wrong kernel it would be millions.
constexpr uint64_t kMostWrongSegments = 8;

// An absent value is NaN, which equals only what is expected of no elements.
double AsDouble(const kernels::Value& value) {
  return std::visit(
      [](auto x) {
        if constexpr (std::is_same_v<decltype(x), std::monostate>) {
          return std::numeric_limits<double>::quiet_NaN();
        } else {
          return static_cast<double>(x);
        }
      },
      value);
}

struct Expected {
  double value;
  double tolerance;
};

// Exact but for roundings of float64 sums that are not: those of squares and of products of floats.
Expected ExpectedOf(Statistic statistic, ElementType type, const Reference& reference,
                    uint64_t count) {
  const DataScale scale = ScaleOf(type);
  const double n = static_cast<double>(count);
  const double sum = static_cast<double>(reference.sum) * scale.unit;
  const double products = reference.Products() * scale.unit * scale.unit;
  const double most_square = std::pow(static_cast<double>(scale.range) * scale.unit, 2);
  const double squares_tolerance = 1e-15 * n * most_square;
  const double variance = products / n - sum / n * (sum / n);
  const double variance_tolerance = 1e-12 * most_square;
  switch (statistic) {
    case Statistic::kSum:
      return {sum, 0};
    case Statistic::kMean:
      return {sum / n, 1e-15 * std::abs(sum / n)};
    case Statistic::kMin:
      return {static_cast<double>(reference.Min(scale)) * scale.unit, 0};
    case Statistic::kMax:
      return {static_cast<double>(reference.Max(scale)) * scale.unit, 0};
    case Statistic::kArgmin:
      return {static_cast<double>(reference.argmin()), 0};
    case Statistic::kArgmax:
      return {static_cast<double>(reference.argmax()), 0};
    case Statistic::kVariance:
      return {variance, variance_tolerance};
    case Statistic::kStandardDeviation:
      return {std::sqrt(variance), variance_tolerance / std::sqrt(variance)};
    case Statistic::kSumOfSquares:
      return {products, squares_tolerance};
    case Statistic::kL2Norm:
      return {std::sqrt(products), squares_tolerance / std::sqrt(products)};
    case Statistic::kL1Norm:
      return {static_cast<double>(reference.magnitude) * scale.unit, 0};
    case Statistic::kNanCount:
      return {0, 0};
    case Statistic::kNonzeroCount:
      return {static_cast<double>(reference.nonzero), 0};
    case Statistic::kDot:
      break;
  }
  return {products, kernels::IsFloating(type) ? squares_tolerance : 0};
}

}  // namespace

void Checker::Expect(const std::string& name, std::string_view what, double got, double want,
                     double tolerance) {
  if (std::abs(got - want) <= tolerance || (std::isnan(got) && std::isnan(want))) return;
  ++wrong_;
  std::fprintf(stderr, "WRONG %s, %.*s: %.17g instead of %.17g, off by more than %g\n",
               name.c_str(), static_cast<int>(what.size()), what.data(), got, want, tolerance);
}

const Reference& Checker::Of(ElementType type, uint64_t apart, uint64_t count) {
  const auto key = std::tuple(type, apart, count);
  if (key != key_) reference_ = ReferenceOf(type, 0, apart, count, stream_);
  key_ = key;
  return reference_;
}

void Checker::ExpectState(const std::string& name, const kernels::Plan& plan,
                          const kernels::State& state, uint64_t count, uint64_t apart) {
  ExpectState(name, plan, state, count, Of(plan.type, apart, count));
}

void Checker::ExpectState(const std::string& name, const kernels::Plan& plan,
                          const kernels::State& state, uint64_t count, const Reference& reference) {
  for (const Statistic statistic : kernels::kAllStatistics) {
    if ((kernels::ComponentsOf(statistic) & ~plan.components) != 0) continue;
    const Expected expected = ExpectedOf(statistic, plan.type, reference, count);
    Expect(name, kernels::StatisticName(statistic),
           AsDouble(kernels::Finalize(statistic, plan.type, state, count, {}).value),
           expected.value, expected.tolerance);
  }
}

void Checker::ExpectStates(const std::string& name, const kernels::Plan& plan,
                           const std::vector<kernels::State>& states,
                           const std::vector<uint64_t>& offsets,
                           const std::vector<Reference>& references) {
  const uint64_t most = wrong_ + kMostWrongSegments;
  Expect(name, "number of segments", static_cast<double>(states.size()),
         static_cast<double>(references.size()), 0);
  for (size_t i = 0; i < std::min(states.size(), references.size()) && wrong_ < most; ++i) {
    const uint64_t count = offsets[i + 1] - offsets[i];
    Expect(name, "count", static_cast<double>(states[i].count), static_cast<double>(count), 0);
    ExpectState(name, plan, states[i], count, references[i]);
  }
}

void Checker::ExpectSegmentSums(const std::string& name, ElementType type,
                                const std::vector<float>& sums,
                                const std::vector<uint64_t>& offsets,
                                const std::vector<Reference>& references) {
  const uint64_t most = wrong_ + kMostWrongSegments;
  const double unit = ScaleOf(type).unit;
  for (size_t i = 0; i < sums.size() && wrong_ < most; ++i) {
    const uint64_t count = offsets[i + 1] - offsets[i];
    const double mu = static_cast<double>(std::min(count, count / 256 + 256)) * 0x1p-24;
    Expect(name, "sum", sums[i], static_cast<double>(references[i].sum) * unit,
           mu / (1 - mu) * static_cast<double>(references[i].magnitude) * unit);
  }
}

template <class T>
void Checker::ExpectSum(const std::string& name, ElementType type, T got, uint64_t count) {
  const Reference& reference = Of(type, 0, count);
  if constexpr (std::is_integral_v<T>) {
    Expect(name, "sum", static_cast<double>(got),
           static_cast<double>(static_cast<T>(reference.sum)), 0);
  } else {
    const double unit = ScaleOf(type).unit;
    const double bound =
        std::is_same_v<T, double>
            ? 0
            : kernels::ladder::ErrorBound(count, static_cast<unsigned>(multiprocessors_));
    Expect(name, "sum", static_cast<double>(got), static_cast<double>(reference.sum) * unit,
           bound * static_cast<double>(reference.magnitude) * unit);
  }
}

template void Checker::ExpectSum(const std::string&, ElementType, float, uint64_t);
template void Checker::ExpectSum(const std::string&, ElementType, double, uint64_t);
template void Checker::ExpectSum(const std::string&, ElementType, int32_t, uint64_t);
template void Checker::ExpectSum(const std::string&, ElementType, int64_t, uint64_t);

void Checker::ExpectChecksum(const std::string& name, ElementType type, uint32_t got,
                             uint64_t count) {
  ExpectChecksum(name, got, ChecksumOf(type, count, stream_));
}

void Checker::ExpectChecksum(const std::string& name, uint32_t got, uint32_t want) {
  Expect(name, "checksum", got, want, 0);
}

}  // namespace reduction::bench
