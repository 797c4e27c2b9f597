// How long a link was busy: the length of the union of intervals that overlap across lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "kernels/backend.h"

namespace reduction::server {

// Thread-safe. Intervals may come late and in any order.
class BusyTime {
 public:
  // Adds an interval and returns the seconds that no earlier one covered.
  double Add(const kernels::Interval& interval) {
    if (interval.end_ns <= interval.begin_ns) return 0;
    const std::lock_guard lock(mutex_);
    int64_t begin = interval.begin_ns;
    int64_t end = interval.end_ns;
    int64_t added = end - begin;
    auto next = covered_.upper_bound(begin);
    if (next != covered_.begin() && std::prev(next)->second >= begin) --next;
    while (next != covered_.end() && next->first <= end) {
      added -= std::min(end, next->second) - std::max(interval.begin_ns, next->first);
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = covered_.erase(next);
    }
    covered_[begin] = end;
    // No lane reports an interval this late: forget, so that memory stays bounded.
    constexpr int64_t kForgetAfterNs = 2'000'000'000;
    while (covered_.begin()->second < covered_.rbegin()->second - kForgetAfterNs) {
      covered_.erase(covered_.begin());
    }
    return static_cast<double>(added > 0 ? added : 0) * 1e-9;
  }

 private:
  std::mutex mutex_;
  std::map<int64_t, int64_t> covered_;  // begin → end, disjoint
};

}  // namespace reduction::server
