// What every RPC of the service needs.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>

#include "server/admission.h"
#include "server/array_reduction.h"
#include "server/call_registry.h"
#include "server/engine.h"
#include "server/metrics.h"

namespace reduction::server {

struct Rooms {
  Engine& engine;
  Admission& admission;
  Metrics& metrics;
  CallRegistry& calls;
};

// Counts a call from its start to its status.
class RpcRecord {
 public:
  RpcRecord(MethodMetrics& metrics, CallRegistry& calls)
      : metrics_(metrics), calls_(calls), counted_(calls.Enter()) {
    metrics_.Started();
  }
  ~RpcRecord() { calls_.Leave(counted_); }
  RpcRecord(const RpcRecord&) = delete;
  RpcRecord& operator=(const RpcRecord&) = delete;

  // The status that the call ends with, counted.
  grpc::Status Ended(grpc::Status status) {
    metrics_.Handled(status.error_code(), std::chrono::steady_clock::now() - start_);
    return status;
  }

 private:
  MethodMetrics& metrics_;
  CallRegistry& calls_;
  const bool counted_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Counts a call on a device for as long as it lives.
class DeviceUse {
 public:
  explicit DeviceUse(DevicePool& pool) : pool_(pool) { pool_.AddLoad(); }
  ~DeviceUse() { pool_.RemoveLoad(); }
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;

 private:
  DevicePool& pool_;
};

// Observes the stages of a finished call.
inline void ObserveStages(DeviceMetrics& metrics, const StageTimes& times) {
  metrics.ObserveStage(Stage::kQueue, std::chrono::nanoseconds(times.queue_ns));
  metrics.ObserveStage(Stage::kReceive, std::chrono::nanoseconds(times.receive_ns));
  metrics.ObserveStage(Stage::kCopy, std::chrono::nanoseconds(times.copy_ns));
  metrics.ObserveStage(Stage::kKernel, std::chrono::nanoseconds(times.kernel_ns));
}

}  // namespace reduction::server
