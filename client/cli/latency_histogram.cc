#include "client/cli/latency_histogram.h"

#include <algorithm>
#include <bit>

namespace reduction::cli {
namespace {

constexpr int kBucketBits = 7;  // of the 128 buckets between powers of two
constexpr int kExactBits = kBucketBits + 1;
constexpr size_t kBuckets = size_t{64 - kExactBits + 2} << kBucketBits;

size_t BucketOf(uint64_t nanoseconds) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(nanoseconds)) - kExactBits);
  return (static_cast<size_t>(shift) << kBucketBits) + (nanoseconds >> shift);
}

uint64_t MiddleOf(size_t bucket) {
  const size_t shift = bucket >> kExactBits == 0 ? 0 : (bucket >> kBucketBits) - 1;
  const uint64_t first = (bucket - (shift << kBucketBits)) << shift;
  return first + ((uint64_t{1} << shift) - 1) / 2;
}

}  // namespace

LatencyHistogram::LatencyHistogram() : counts_(kBuckets) {}

void LatencyHistogram::Record(std::chrono::nanoseconds latency) {
  const auto nanoseconds = static_cast<uint64_t>(std::max<int64_t>(latency.count(), 0));
  ++counts_[BucketOf(nanoseconds)];
  ++count_;
  min_ = std::min(min_, nanoseconds);
  max_ = std::max(max_, nanoseconds);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

std::optional<std::chrono::nanoseconds> LatencyHistogram::Percentile(int percent) const {
  if (count_ == 0) return std::nullopt;
  if (percent == 100) return std::chrono::nanoseconds(max_);
  const uint64_t rank = (count_ * static_cast<uint64_t>(percent) + 99) / 100;
  uint64_t below = 0;
  size_t bucket = 0;
  while ((below += counts_[bucket]) < rank) ++bucket;
  return std::chrono::nanoseconds(std::clamp(MiddleOf(bucket), min_, max_));
}

}  // namespace reduction::cli
