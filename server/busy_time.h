// How long a link was busy: the length of the union of intervals that overlap across lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/backend.h"

namespace reduction::server {

// Thread-safe. Intervals may come late and in any order. Allocates only when it is made.
class BusyTime {
 public:
  BusyTime() { covered_.reserve(kMost); }

  // Adds intervals and returns the seconds that no earlier ones covered.
  double Add(std::span<const kernels::Interval> intervals) {
    int64_t added_ns = 0;
    const std::lock_guard lock(mutex_);
    for (const kernels::Interval& interval : intervals) added_ns += AddOne(interval);
    return static_cast<double>(added_ns) * 1e-9;
  }

 private:
  // Of the covered intervals the latest are kept, at least half as many: with tiny calls all of
  // the time these are the last milliseconds. What comes later than that counts as covered.
  static constexpr size_t kMost = 8192;

  int64_t AddOne(kernels::Interval interval) {
    interval.begin_ns = std::max(interval.begin_ns, forgotten_until_ns_);
    if (interval.end_ns <= interval.begin_ns) return 0;
    int64_t added_ns = interval.end_ns - interval.begin_ns;
    auto first = covered_.end();  // of those that the interval touches; it is among the last ones
    while (first != covered_.begin() && std::prev(first)->end_ns >= interval.begin_ns) --first;
    auto last = first;
    for (; last != covered_.end() && last->begin_ns <= interval.end_ns; ++last) {
      added_ns -=
          std::min(interval.end_ns, last->end_ns) - std::max(interval.begin_ns, last->begin_ns);
    }
    if (first != last) {
      first->begin_ns = std::min(first->begin_ns, interval.begin_ns);
      first->end_ns = std::max(std::prev(last)->end_ns, interval.end_ns);
      covered_.erase(first + 1, last);
      return added_ns;
    }
    covered_.insert(first, interval);
    if (covered_.size() == kMost) {
      const auto kept = covered_.begin() + kMost / 2;
      forgotten_until_ns_ = std::prev(kept)->end_ns;
      covered_.erase(covered_.begin(), kept);
    }
    return added_ns;
  }

  std::mutex mutex_;
  std::vector<kernels::Interval> covered_;  // ascending, apart from each other
  int64_t forgotten_until_ns_ = std::numeric_limits<int64_t>::min();
};

}  // namespace reduction::server
