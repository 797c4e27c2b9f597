// Percentiles of many durations in constant memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace reduction::cli {

// Counts durations in buckets of 1 ns up to 256 ns, and in 128 equal buckets between each two
// powers of two above: the log-linear layout of Gil Tene's HdrHistogram. 58 KiB.
class LatencyHistogram {
 public:
  LatencyHistogram();

  // A negative duration counts as 0.
  void Record(std::chrono::nanoseconds latency);
  void Merge(const LatencyHistogram& other);

  uint64_t count() const { return count_; }

  // The smallest recorded duration that at least `percent` (1 to 100) of all do not exceed, within
  // 1/256 of it; exact for 100. None before the first one.
  std::optional<std::chrono::nanoseconds> Percentile(int percent) const;

 private:
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

}  // namespace reduction::cli
