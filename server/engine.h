// All devices of the server, and the choice among them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/device_pool.h"
#include "server/reduction_spec.h"
#include "server/refusal.h"

namespace reduction::server {

enum class DeviceMode : uint8_t { kAuto, kCpu, kCuda };

struct EngineOptions {
  DeviceMode mode = DeviceMode::kAuto;
  int lanes_per_gpu = 8;
};

// Thread-safe.
class Engine {
 public:
  // Makes and warms up every device. Null when kCuda finds none, or memory is short; *error says
  // why. `on_lost` is called when a device is lost.
  static std::unique_ptr<Engine> Create(const EngineOptions& options, Metrics& metrics,
                                        std::function<void()> on_lost, std::string* error);

  // Arrays of at most this many bytes are reduced by the thread that received them, on the CPU:
  // about 10 µs of work.
  static constexpr size_t kImmediateBytes = 32 << 10;

  // The device for an array of `bytes` (unknown: UINT64_MAX).
  std::optional<Refusal> Choose(const DeviceChoice& choice, uint64_t bytes, DevicePool** pool);

  DevicePool& cpu() { return *pools_.front(); }
  const std::vector<std::unique_ptr<DevicePool>>& pools() const { return pools_; }
  size_t staging_bytes() const;

 private:
  std::vector<std::unique_ptr<DevicePool>> pools_;  // the CPU, then every GPU
};

// The refusal of a call whose device was lost.
Refusal DeviceLost(const std::string& device, const std::string& error);

}  // namespace reduction::server
