#include "server/engine.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace reduction::server {
namespace {

// A slot of the CPU stays in a core's cache between the copy and the reduction; a GPU's is long
// enough to hide the cost of a launch.
constexpr size_t kCpuSlotBytes = 512 << 10;
constexpr size_t kGpuSlotBytes = 4 << 20;
constexpr size_t kCpuSlotsPerLane = 1;
constexpr size_t kGpuSlotsPerLane = 3;

// Up to here AUTO leaves an array to the CPU: the trip to a GPU costs more than the work.
constexpr uint64_t kAutoCpuBytes = 256 << 10;

}  // namespace

std::unique_ptr<Engine> Engine::Create(const EngineOptions& options, Metrics& metrics,
                                       std::function<void()> on_lost, std::string* error) {
  auto engine = std::make_unique<Engine>();
  auto cpu = kernels::CreateCpuBackend();
  const int cores = cpu->info().multiprocessors;
  engine->pools_.push_back(DevicePool::Create(std::move(cpu), cores, kCpuSlotsPerLane,
                                              kCpuSlotBytes, metrics, on_lost, error));
  if (engine->pools_.back() == nullptr) return nullptr;
  if (options.mode == DeviceMode::kCpu) return engine;

  std::string reason;
  for (auto& backend : kernels::CreateCudaBackends(&reason)) {
    auto pool = DevicePool::Create(std::move(backend), options.lanes_per_gpu, kGpuSlotsPerLane,
                                   kGpuSlotBytes, metrics, on_lost, error);
    if (pool == nullptr) return nullptr;
    engine->pools_.push_back(std::move(pool));
  }
  if (options.mode == DeviceMode::kCuda && engine->pools_.size() == 1) {
    *error = "--device=cuda, and no CUDA device can be used: " + reason;
    return nullptr;
  }
  if (engine->pools_.size() == 1) {
    spdlog::warn("event=no_gpu message=\"serving from the CPU alone: {}\"", reason);
  } else if (!reason.empty()) {
    spdlog::warn("event=gpu_skipped message=\"{}\"", reason);
  }
  return engine;
}

size_t Engine::staging_bytes() const {
  size_t bytes = 0;
  for (const auto& pool : pools_) bytes += pool->staging_bytes();
  return bytes;
}

std::optional<Refusal> Engine::Choose(const DeviceChoice& choice, uint64_t bytes,
                                      DevicePool** pool) {
  const bool has_gpu = pools_.size() > 1;
  if (choice.kind == DeviceKind::kCpu ||
      (choice.kind == DeviceKind::kAuto && (!has_gpu || bytes <= kAutoCpuBytes))) {
    *pool = &cpu();
    return std::nullopt;
  }
  if (!has_gpu) {
    return Refusal{grpc::StatusCode::FAILED_PRECONDITION, "NO_GPU",
                   "options.device.kind is GPU, and this server has none; use AUTO or CPU, or "
                   "another server.",
                   "", std::nullopt};
  }
  if (choice.ordinal) {
    for (size_t i = 1; i < pools_.size(); ++i) {
      if (static_cast<uint32_t>(pools_[i]->info().ordinal) == *choice.ordinal) {
        *pool = pools_[i].get();
        return std::nullopt;
      }
    }
    return Refusal{grpc::StatusCode::FAILED_PRECONDITION, "NO_SUCH_GPU",
                   "options.device.ordinal is " + std::to_string(*choice.ordinal) +
                       ", and this server has no such GPU; GetServerInfo lists its devices.",
                   "", std::nullopt};
  }
  *pool = pools_[1].get();
  for (size_t i = 2; i < pools_.size(); ++i) {
    if (pools_[i]->load() < (*pool)->load()) *pool = pools_[i].get();
  }
  return std::nullopt;
}

Refusal DeviceLost(const std::string& device, const std::string& error) {
  return {grpc::StatusCode::UNAVAILABLE, "DEVICE_LOST",
          "The device " + device + " was lost (" + error +
              "); this server is about to exit, send the call to another one.",
          "", std::nullopt};
}

}  // namespace reduction::server
