#include "server/busy_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace reduction::server {
namespace {

using kernels::Interval;

int64_t AddedNanos(BusyTime& busy, const Interval& interval) {
  return static_cast<int64_t>(busy.Add(std::array{interval}) * 1e9 + 0.5);
}

TEST(BusyTime, CountsWhatNoEarlierIntervalCovered) {
  BusyTime busy;
  EXPECT_EQ(AddedNanos(busy, {100, 200}), 100);
  EXPECT_EQ(AddedNanos(busy, {100, 200}), 0);
  EXPECT_EQ(AddedNanos(busy, {150, 250}), 50);
  EXPECT_EQ(AddedNanos(busy, {300, 400}), 100);
  EXPECT_EQ(AddedNanos(busy, {50, 450}), 150);
  EXPECT_EQ(AddedNanos(busy, {450, 460}), 10);
  EXPECT_EQ(AddedNanos(busy, {40, 50}), 10);
  EXPECT_EQ(AddedNanos(busy, {40, 460}), 0);
}

TEST(BusyTime, IgnoresEmptyAndBackwardIntervals) {
  BusyTime busy;
  EXPECT_EQ(AddedNanos(busy, {0, 0}), 0);
  EXPECT_EQ(AddedNanos(busy, {10, 5}), 0);
  EXPECT_EQ(AddedNanos(busy, {0, 10}), 10);
}

TEST(BusyTime, LateIntervalFillsTheGapsOfAllThatCameBefore) {
  BusyTime busy;
  for (int64_t begin = 0; begin < 1000 * 100; begin += 100) {
    EXPECT_EQ(AddedNanos(busy, {begin, begin + 40}), 40);
  }
  EXPECT_EQ(AddedNanos(busy, {0, 1000 * 100}), 1000 * 60);
}

TEST(BusyTime, AnyOrderGivesTheLengthOfTheUnion) {
  constexpr unsigned kSeed = 20240611;
  std::mt19937_64 random(kSeed);
  std::vector<Interval> intervals;
  std::vector<bool> covered(20'000);
  for (int i = 0; i < 2000; ++i) {
    const auto begin = static_cast<int64_t>(random() % 19'900);
    intervals.push_back({begin, begin + static_cast<int64_t>(random() % 100)});
    std::fill(covered.begin() + begin, covered.begin() + intervals.back().end_ns, true);
  }
  BusyTime busy;
  int64_t total = 0;
  for (const Interval& interval : intervals) total += AddedNanos(busy, interval);
  EXPECT_EQ(total, std::count(covered.begin(), covered.end(), true)) << "seed " << kSeed;
}

TEST(BusyTime, ForgetsTheOldestOfManyIntervalsAndCountsNothingTwice) {
  BusyTime busy;
  constexpr int64_t kIntervals = 100'000;
  double seconds = 0;
  for (int64_t i = 0; i < kIntervals; ++i) {
    seconds += busy.Add(std::array{Interval{i * 100, i * 100 + 10}});
  }
  EXPECT_NEAR(seconds, kIntervals * 10e-9, 1e-9);
  EXPECT_EQ(AddedNanos(busy, {0, 100}), 0);
  const int64_t last = kIntervals * 100;
  EXPECT_EQ(AddedNanos(busy, {last - 1000, last}), 10 * 90);
  seconds += 900e-9;
  EXPECT_LE(seconds + busy.Add(std::array{Interval{0, last}}), static_cast<double>(last) * 1e-9);
}

TEST(BusyTime, ThreadsThatAddAtOnceGetTheUnionTogether) {
  BusyTime busy;
  std::array<double, 4> seconds = {};
  std::vector<std::thread> threads;
  for (double& sum : seconds) {
    threads.emplace_back([&busy, &sum] {
      for (int64_t i = 0; i < 1000; ++i) sum += busy.Add(std::array{Interval{i, i + 2}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NEAR(seconds[0] + seconds[1] + seconds[2] + seconds[3], 1001e-9, 1e-12);
}

}  // namespace
}  // namespace reduction::server
