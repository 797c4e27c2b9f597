// Prometheus metrics of the server. All series exist from the start; handles are looked up once.
#pragma once

#include <grpcpp/support/status_code_enum.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "server/busy_time.h"
#include "server/reduction_spec.h"

namespace reduction::server {

enum class Source : uint8_t { kInline, kStream };
inline constexpr size_t kSourceCount = 2;

enum class Stage : uint8_t { kQueue, kReceive, kCopy, kKernel };
inline constexpr size_t kStageCount = 4;

enum class Link : uint8_t { kCopy, kKernel };
inline constexpr size_t kLinkCount = 2;

// The series of one device. Thread-safe; counting takes no lock, observing a histogram does.
class DeviceMetrics {
 public:
  DeviceMetrics(prometheus::Registry& registry, const kernels::DeviceInfo& info);

  // Counts bytes and elements that were just reduced.
  void CountReduced(const ReductionSpec& spec, Source source, uint64_t bytes, uint64_t elements);
  void ObserveStage(Stage stage, std::chrono::nanoseconds time);
  void AddBusy(Link link, const kernels::Interval& interval);

  prometheus::Gauge* lanes;
  prometheus::Gauge* lanes_in_use;
  prometheus::Gauge* staging_slots_in_use;
  prometheus::Gauge* staging_bytes;
  prometheus::Gauge* queue_depth;
  prometheus::Gauge* healthy;
  prometheus::Histogram* batch_size;

 private:
  struct Reduced {
    prometheus::Counter* bytes;
    prometheus::Counter* elements;
  };
  static constexpr size_t kOperationCount = std::size(kAllOperations);
  static constexpr size_t kTypeCount = std::size(kernels::kAllElementTypes);
  std::array<Reduced, kOperationCount * kTypeCount * kSourceCount> reduced_;
  std::array<prometheus::Histogram*, kStageCount> stages_;
  std::array<prometheus::Counter*, kLinkCount> busy_seconds_;
  std::array<BusyTime, kLinkCount> busy_;
};

// The series of one RPC method, named as gRPC's Prometheus middleware names them.
class MethodMetrics {
 public:
  MethodMetrics(prometheus::Registry& registry, const std::string& type, const std::string& method);

  void Started() { started_->Increment(); }
  void Handled(grpc::StatusCode code, std::chrono::steady_clock::duration time);

 private:
  static constexpr size_t kCodeCount = grpc::StatusCode::UNAUTHENTICATED + 1;
  prometheus::Counter* started_;
  std::array<prometheus::Counter*, kCodeCount> handled_;
  prometheus::Histogram* seconds_;
};

enum class Rejection : uint8_t { kMessageSize, kMemory, kQueue, kStreams, kDraining, kSlowStream };
inline constexpr size_t kRejectionCount = 6;

class Metrics {
 public:
  explicit Metrics(const std::string& version);

  std::shared_ptr<prometheus::Registry> registry() { return registry_; }
  DeviceMetrics* AddDevice(const kernels::DeviceInfo& info);
  MethodMetrics* Method(const std::string& type, const std::string& method);
  void CountReceived(Source source, uint64_t bytes) {
    received_[static_cast<size_t>(source)]->Increment(static_cast<double>(bytes));
  }
  void CountRejected(Rejection reason) { rejected_[static_cast<size_t>(reason)]->Increment(); }

 private:
  std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  std::array<prometheus::Counter*, kSourceCount> received_;
  std::array<prometheus::Counter*, kRejectionCount> rejected_;
  std::vector<std::unique_ptr<DeviceMetrics>> devices_;
  std::map<std::string, std::unique_ptr<MethodMetrics>> methods_;
};

// process_*: CPU seconds, memory, file descriptors and start time of this process.
class ProcessMetrics final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace reduction::server
