#include "server/histogram.h"

#include <limits>

namespace reduction::server {

prometheus::ClientMetric Histogram::Collect() const {
  prometheus::ClientMetric metric;
  // The count is that of the buckets, so that both agree while others observe.
  uint64_t cumulative = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    cumulative += counts_[i].load(std::memory_order_relaxed);
    const double bound = i < bounds_.size() ? bounds_[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({cumulative, bound});
  }
  metric.histogram.sample_count = cumulative;
  metric.histogram.sample_sum = sum_.load(std::memory_order_relaxed);
  return metric;
}

Histogram* HistogramFamily::Add(const std::map<std::string, std::string>& labels) {
  std::vector<prometheus::ClientMetric::Label> pairs;
  for (const auto& [name, value] : labels) pairs.push_back({name, value});
  const std::lock_guard lock(mutex_);
  return &series_.emplace_back(std::move(pairs), bounds_).histogram;
}

std::vector<prometheus::MetricFamily> HistogramFamily::Collect() const {
  prometheus::MetricFamily family{name_, help_, prometheus::MetricType::Histogram, {}};
  const std::lock_guard lock(mutex_);
  for (const Series& series : series_) {
    family.metric.push_back(series.histogram.Collect());
    family.metric.back().label = series.labels;
  }
  return {family};
}

}  // namespace reduction::server
