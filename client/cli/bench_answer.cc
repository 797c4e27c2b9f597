#include "client/cli/bench_answer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace reduction::cli {
namespace {

bool SameValue(const Value& a, const Value& b, double tolerance) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y) ||
         (tolerance > 0 && std::abs(*x - *y) <= tolerance);
}

bool Same(const Reduction& a, const Reduction& b, double tolerance) {
  return a.count == b.count &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [&](const StatisticValue& x, const StatisticValue& y) {
                      return x.statistic == y.statistic && SameValue(x.value, y.value, tolerance);
                    });
}

bool Same(const SegmentedReduction& a, const SegmentedReduction& b, double tolerance) {
  if (a.counts != b.counts) return false;
  return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                    [&](const Column& x, const Column& y) {
                      if (x.statistic != y.statistic) return false;
                      for (size_t i = 0; i < a.size(); ++i) {
                        if (!SameValue(x.At(i), y.At(i), tolerance)) return false;
                      }
                      return true;
                    });
}

}  // namespace

bool SameAnswer(const Answer& a, const Answer& b, double tolerance) {
  if (const auto* whole = std::get_if<Reduction>(&a)) {
    const auto* other = std::get_if<Reduction>(&b);
    return other != nullptr && Same(*whole, *other, tolerance);
  }
  const auto* other = std::get_if<SegmentedReduction>(&b);
  return other != nullptr && Same(std::get<SegmentedReduction>(a), *other, tolerance);
}

const std::vector<Execution>& ExecutionsOf(const Answer& answer) {
  return std::visit(
      [](const auto& reduction) -> const auto& { return reduction.executions; }, answer);
}

}  // namespace reduction::cli
