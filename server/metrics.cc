#include "server/metrics.h"

#include "kernels/fixed_order.h"
#include "server/version.h"

namespace reduction::server {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using Labels = std::map<std::string, std::string>;

constexpr const char* kSourceNames[] = {"inline", "stream"};
constexpr const char* kStageNames[] = {"queue", "receive", "copy", "kernel"};
constexpr const char* kLinkNames[] = {"copy", "kernel"};
constexpr const char* kRejectionNames[] = {"message_size", "segments", "memory",     "queue",
                                           "streams",      "draining", "slow_stream"};

// 10 µs to 30 s.
const std::vector<double> kSecondBuckets = {10e-6,  25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3,
                                            2.5e-3, 5e-3,  10e-3, 25e-3,  50e-3,  0.1,    0.25,
                                            0.5,    1,     2.5,   5,      10,     30};

std::string CodeName(int code) {
  static constexpr const char* kNames[] = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  return kNames[code];
}

prometheus::Counter* AddCounter(prometheus::Registry& registry, const char* name, const char* help,
                                const Labels& labels) {
  return &BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
}
prometheus::Gauge* AddGauge(prometheus::Registry& registry, const char* name, const char* help,
                            const Labels& labels) {
  return &BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

}  // namespace

DeviceMetrics::DeviceMetrics(prometheus::Registry& registry, HistogramFamilies& histograms,
                             const kernels::DeviceInfo& info) {
  const Labels device = {{"device", info.label}};
  size_t i = 0;
  for (const Operation operation : kAllOperations) {
    for (const kernels::ElementType type : kernels::kAllElementTypes) {
      for (const char* source : kSourceNames) {
        const Labels labels = {{"op", OperationName(operation)},
                               {"dtype", std::string(kernels::ElementTypeName(type))},
                               {"source", source},
                               {"device", info.label}};
        reduced_[i++] = {AddCounter(registry, "reduction_bytes_total",
                                    "Bytes of arrays that were reduced.", labels),
                         AddCounter(registry, "reduction_elements_total",
                                    "Elements that were reduced.", labels)};
      }
    }
  }
  for (size_t stage = 0; stage < kStageCount; ++stage) {
    stages_[stage] =
        histograms.stage_seconds->Add({{"device", info.label}, {"stage", kStageNames[stage]}});
  }
  const double peaks[] = {info.copy_bytes_per_second, info.memory_bytes_per_second};
  for (size_t link = 0; link < kLinkCount; ++link) {
    const Labels labels = {{"device", info.label}, {"link", kLinkNames[link]}};
    busy_seconds_[link] = AddCounter(registry, "reduction_device_busy_seconds_total",
                                     "Seconds in which at least one lane used the link.", labels);
    AddGauge(registry, "reduction_device_peak_bandwidth_bytes_per_second",
             "Highest bandwidth that the link can have.", labels)
        ->Set(peaks[link]);
  }
  lanes = AddGauge(registry, "reduction_lanes", "Lanes of the device.", device);
  lanes_in_use = AddGauge(registry, "reduction_lanes_in_use", "Lanes that run work.", device);
  staging_slots_in_use = AddGauge(registry, "reduction_staging_slots_in_use",
                                  "Staging slots with a launch outstanding.", device);
  staging_bytes =
      AddGauge(registry, "reduction_staging_bytes", "Size of all staging slots.", device);
  queue_depth = AddGauge(registry, "reduction_queue_depth", "Work that waits for a lane.", device);
  healthy = AddGauge(registry, "reduction_device_healthy", "1 unless the device is lost.", device);
  healthy->Set(1);
  batch_size = histograms.batch_size->Add(device);
}

void DeviceMetrics::CountReduced(const ReductionSpec& spec, Source source, uint64_t bytes,
                                 uint64_t elements) {
  const size_t operation = static_cast<size_t>(spec.operation);
  const size_t type = static_cast<size_t>(spec.plan.type) - 1;
  const Reduced& series =
      reduced_[(operation * kTypeCount + type) * kSourceCount + static_cast<size_t>(source)];
  series.bytes->Increment(static_cast<double>(bytes));
  series.elements->Increment(static_cast<double>(elements));
}

void DeviceMetrics::ObserveStage(Stage stage, std::chrono::nanoseconds time) {
  stages_[static_cast<size_t>(stage)]->Observe(std::chrono::duration<double>(time).count());
}

void DeviceMetrics::AddBusy(Link link, std::span<const kernels::Interval> intervals) {
  const auto index = static_cast<size_t>(link);
  busy_seconds_[index]->Increment(busy_[index].Add(intervals));
}

MethodMetrics::MethodMetrics(prometheus::Registry& registry, HistogramFamilies& histograms,
                             const MethodName& name) {
  Labels labels = {
      {"grpc_type", name.type}, {"grpc_service", name.service}, {"grpc_method", name.method}};
  started_ = AddCounter(registry, "grpc_server_started_total", "RPCs started.", labels);
  seconds_ = histograms.handling_seconds->Add(labels);
  for (size_t code = 0; code < kCodeCount; ++code) {
    labels["grpc_code"] = CodeName(static_cast<int>(code));
    handled_[code] =
        AddCounter(registry, "grpc_server_handled_total", "RPCs ended, by status code.", labels);
  }
}

void MethodMetrics::Handled(grpc::StatusCode code, std::chrono::steady_clock::duration time) {
  handled_[static_cast<size_t>(code)]->Increment();
  seconds_->Observe(std::chrono::duration<double>(time).count());
}

Metrics::Metrics()
    : histograms_{std::make_shared<HistogramFamily>("reduction_stage_seconds",
                                                    "Seconds a call spent in a stage.",
                                                    kSecondBuckets),
                  std::make_shared<HistogramFamily>(
                      "reduction_batch_size", "Inline arrays that ran in one launch.",
                      std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128}),
                  std::make_shared<HistogramFamily>("grpc_server_handling_seconds",
                                                    "Seconds from the start of an RPC to its end.",
                                                    kSecondBuckets)},
      process_(MakeProcessMetrics()) {
  for (size_t source = 0; source < kSourceCount; ++source) {
    received_[source] = AddCounter(*registry_, "reduction_received_bytes_total",
                                   "Bytes of request messages that were received.",
                                   {{"source", kSourceNames[source]}});
  }
  for (size_t reason = 0; reason < kRejectionCount; ++reason) {
    rejected_[reason] =
        AddCounter(*registry_, "reduction_rejected_total", "Calls that were turned away.",
                   {{"reason", kRejectionNames[reason]}});
  }
  AddGauge(*registry_, "reduction_build_info", "1, with what was built as labels.",
           {{"version", kVersion},
            {"order_version", std::to_string(kernels::kOrderVersion)},
            {"cuda", kCudaVersion}})
      ->Set(1);
}

std::vector<std::shared_ptr<prometheus::Collectable>> Metrics::collectables() const {
  return {registry_, histograms_.stage_seconds, histograms_.batch_size,
          histograms_.handling_seconds, process_};
}

DeviceMetrics* Metrics::AddDevice(const kernels::DeviceInfo& info) {
  devices_.push_back(std::make_unique<DeviceMetrics>(*registry_, histograms_, info));
  return devices_.back().get();
}

MethodMetrics* Metrics::AddMethod(const MethodName& name) {
  methods_.push_back(std::make_unique<MethodMetrics>(*registry_, histograms_, name));
  return methods_.back().get();
}

}  // namespace reduction::server
