// Histograms that take no lock to observe: prometheus-cpp's own lock, and lanes observe often.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace reduction::server {

// Thread-safe.
class Histogram {
 public:
  // `bounds`: the largest value of each bucket, ascending; one bucket for the rest is added.
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

  void Observe(double value) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  prometheus::ClientMetric Collect() const;

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

// The histograms of one name, which differ in their labels. Thread-safe.
class HistogramFamily final : public prometheus::Collectable {
 public:
  HistogramFamily(std::string name, std::string help, std::vector<double> bounds)
      : name_(std::move(name)), help_(std::move(help)), bounds_(std::move(bounds)) {}

  // The histogram lives as long as the family.
  Histogram* Add(const std::map<std::string, std::string>& labels);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct Series {
    Series(std::vector<prometheus::ClientMetric::Label> pairs, const std::vector<double>& bounds)
        : labels(std::move(pairs)), histogram(bounds) {}
    const std::vector<prometheus::ClientMetric::Label> labels;
    Histogram histogram;
  };
  const std::string name_;
  const std::string help_;
  const std::vector<double> bounds_;
  mutable std::mutex mutex_;  // of the list, not of what is in it
  std::deque<Series> series_;
};

}  // namespace reduction::server
