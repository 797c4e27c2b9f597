#include "client/cli/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace reduction::cli {
namespace {

using std::chrono::nanoseconds;

constexpr int kPercents[] = {1, 10, 50, 90, 99, 100};

// By sorting: the smallest one that at least `percent` of all do not exceed.
int64_t ExactPercentile(std::vector<int64_t> sorted, int percent) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() * static_cast<size_t>(percent) + 99) / 100 - 1];
}

LatencyHistogram HistogramOf(const std::vector<int64_t>& latencies) {
  LatencyHistogram histogram;
  for (const int64_t latency : latencies) histogram.Record(nanoseconds(latency));
  return histogram;
}

TEST(LatencyHistogram, HasNoPercentilesBeforeTheFirstLatency) {
  EXPECT_EQ(LatencyHistogram().count(), 0u);
  EXPECT_FALSE(LatencyHistogram().Percentile(50).has_value());
  EXPECT_FALSE(LatencyHistogram().Percentile(100).has_value());
}

TEST(LatencyHistogram, IsExactForOneLatencyOfAnySize) {
  for (const int64_t latency : {int64_t{0}, int64_t{1}, int64_t{255}, int64_t{256}, int64_t{257},
                                int64_t{1'234'567}, int64_t{3'600'000'000'001}, INT64_MAX}) {
    const LatencyHistogram histogram = HistogramOf({latency});
    for (const int percent : kPercents) {
      EXPECT_EQ(histogram.Percentile(percent), nanoseconds(latency)) << latency;
    }
  }
}

TEST(LatencyHistogram, TakesNegativeLatenciesAsZero) {
  EXPECT_EQ(HistogramOf({-5}).Percentile(50), nanoseconds(0));
}

TEST(LatencyHistogram, IsExactBelow256Nanoseconds) {
  std::vector<int64_t> latencies;
  for (int64_t latency = 0; latency < 256; ++latency) latencies.push_back(latency);
  const LatencyHistogram histogram = HistogramOf(latencies);
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(histogram.Percentile(percent)->count(), ExactPercentile(latencies, percent));
  }
}

TEST(LatencyHistogram, CountsRanksFromTheSmallest) {
  std::vector<int64_t> latencies;
  for (int64_t latency = 1; latency <= 100; ++latency) latencies.push_back(latency);
  const LatencyHistogram histogram = HistogramOf(latencies);
  for (const int percent : kPercents) EXPECT_EQ(histogram.Percentile(percent)->count(), percent);
  EXPECT_EQ(HistogramOf({1, 2}).Percentile(50)->count(), 1);
  EXPECT_EQ(HistogramOf({1, 2}).Percentile(90)->count(), 2);
}

TEST(LatencyHistogram, IsWithinA256thForAnyDistribution) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> bulk(13, 1);  // around half a millisecond
  std::uniform_real_distribution<double> exponents(0, 42);
  for (const size_t count : {3, 100, 10'007}) {
    std::vector<int64_t> close;
    std::vector<int64_t> wide;
    for (size_t i = 0; i < count; ++i) {
      close.push_back(static_cast<int64_t>(bulk(random)));
      wide.push_back(static_cast<int64_t>(std::exp2(exponents(random))));
    }
    for (const auto& latencies : {close, wide}) {
      const LatencyHistogram histogram = HistogramOf(latencies);
      for (const int percent : kPercents) {
        const auto exact = static_cast<double>(ExactPercentile(latencies, percent));
        const auto got = static_cast<double>(histogram.Percentile(percent)->count());
        EXPECT_LE(std::abs(got - exact), exact / 256) << percent << "% of " << count;
      }
      EXPECT_EQ(histogram.Percentile(100)->count(), ExactPercentile(latencies, 100));
    }
  }
}

TEST(LatencyHistogram, MergesToTheHistogramOfAll) {
  const std::vector<int64_t> some = {5, 1'000'000, 70};
  const std::vector<int64_t> others = {3'000'000'000, 2, 900};
  std::vector<int64_t> all = some;
  all.insert(all.end(), others.begin(), others.end());
  LatencyHistogram merged = HistogramOf(some);
  merged.Merge(HistogramOf(others));
  merged.Merge(LatencyHistogram());
  EXPECT_EQ(merged.count(), all.size());
  for (const int percent : kPercents) {
    EXPECT_EQ(merged.Percentile(percent), HistogramOf(all).Percentile(percent));
  }
}

}  // namespace
}  // namespace reduction::cli
