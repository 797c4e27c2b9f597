// Prometheus metrics of the server. All series exist from the start; handles are looked up once.
#pragma once

#include <grpcpp/support/status_code_enum.h>
#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "server/busy_time.h"
#include "server/histogram.h"
#include "server/reduction_spec.h"

namespace reduction::server {

enum class Source : uint8_t { kInline, kStream };
inline constexpr size_t kSourceCount = 2;

enum class Stage : uint8_t { kQueue, kReceive, kCopy, kKernel };
inline constexpr size_t kStageCount = 4;

enum class Link : uint8_t { kCopy, kKernel };
inline constexpr size_t kLinkCount = 2;

// The histograms that devices and methods share.
struct HistogramFamilies {
  std::shared_ptr<HistogramFamily> stage_seconds;
  std::shared_ptr<HistogramFamily> batch_size;
  std::shared_ptr<HistogramFamily> handling_seconds;
};

// The series of one device. Thread-safe. AddBusy() takes a lock, nothing else does.
class DeviceMetrics {
 public:
  DeviceMetrics(prometheus::Registry& registry, HistogramFamilies& histograms,
                const kernels::DeviceInfo& info);

  // Counts bytes and elements that were just reduced.
  void CountReduced(const ReductionSpec& spec, Source source, uint64_t bytes, uint64_t elements);
  void ObserveStage(Stage stage, std::chrono::nanoseconds time);
  // The link was in use in these intervals, which may overlap others. For a call or a run of
  // launches, not for each slot.
  void AddBusy(Link link, std::span<const kernels::Interval> intervals);

  prometheus::Gauge* lanes;
  prometheus::Gauge* lanes_in_use;
  prometheus::Gauge* staging_slots_in_use;
  prometheus::Gauge* staging_bytes;
  prometheus::Gauge* queue_depth;
  prometheus::Gauge* healthy;
  Histogram* batch_size;

 private:
  struct Reduced {
    prometheus::Counter* bytes;
    prometheus::Counter* elements;
  };
  static constexpr size_t kOperationCount = std::size(kAllOperations);
  static constexpr size_t kTypeCount = std::size(kernels::kAllElementTypes);
  std::array<Reduced, kOperationCount * kTypeCount * kSourceCount> reduced_;
  std::array<Histogram*, kStageCount> stages_;
  std::array<prometheus::Counter*, kLinkCount> busy_seconds_;
  std::array<BusyTime, kLinkCount> busy_;
};

// An RPC method.
struct MethodName {
  std::string type;  // unary, client_stream, server_stream, bidi_stream
  std::string service;
  std::string method;
};

// The series of one RPC method, named as gRPC's Prometheus middleware names them. Thread-safe,
// without a lock.
class MethodMetrics {
 public:
  MethodMetrics(prometheus::Registry& registry, HistogramFamilies& histograms,
                const MethodName& name);

  void Started() { started_->Increment(); }
  void Handled(grpc::StatusCode code, std::chrono::steady_clock::duration time);

 private:
  static constexpr size_t kCodeCount = grpc::StatusCode::UNAUTHENTICATED + 1;
  prometheus::Counter* started_;
  std::array<prometheus::Counter*, kCodeCount> handled_;
  Histogram* seconds_;
};

enum class Rejection : uint8_t {
  kMessageSize,
  kSegments,
  kMemory,
  kQueue,
  kStreams,
  kDraining,
  kSlowStream
};
inline constexpr size_t kRejectionCount = 7;

class Metrics {
 public:
  Metrics();

  // What a scrape collects. All of it lives as long as this.
  std::vector<std::shared_ptr<prometheus::Collectable>> collectables() const;

  DeviceMetrics* AddDevice(const kernels::DeviceInfo& info);
  MethodMetrics* AddMethod(const MethodName& name);
  void CountReceived(Source source, uint64_t bytes) {
    received_[static_cast<size_t>(source)]->Increment(static_cast<double>(bytes));
  }
  void CountRejected(Rejection reason) { rejected_[static_cast<size_t>(reason)]->Increment(); }

 private:
  std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  std::array<prometheus::Counter*, kSourceCount> received_;
  std::array<prometheus::Counter*, kRejectionCount> rejected_;
  HistogramFamilies histograms_;
  std::shared_ptr<prometheus::Collectable> process_;
  std::vector<std::unique_ptr<DeviceMetrics>> devices_;
  std::vector<std::unique_ptr<MethodMetrics>> methods_;
};

// process_*: CPU seconds, memory, threads, file descriptors and start time of this process.
std::shared_ptr<prometheus::Collectable> MakeProcessMetrics();

}  // namespace reduction::server
