#include <algorithm>
#include <string>

#include "kernels/backend.h"
#include "kernels/cuda/cuda_lane.h"
#include "kernels/cuda/device_attributes.h"
#include "kernels/cuda/pinned_buffer.h"

namespace reduction::kernels {
namespace cuda {
namespace {

// Bytes per second from pinned host memory to the current device: the best of a few copies.
double MeasureCopyPeak() {
  constexpr size_t kBytes = size_t{32} << 20;
  constexpr int kCopies = 4;
  const PinnedBuffer host(kBytes);
  const DeviceBuffer device(kBytes);
  std::fill_n(host.data(), kBytes, std::byte{1});
  const CudaStream stream;
  const CudaEvent begin;
  const CudaEvent end;
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    begin.view().Record(stream.view());
    Check(cudaMemcpyAsync(device.data(), host.data(), kBytes, cudaMemcpyHostToDevice,
                          stream.view().get()));
    end.view().Record(stream.view());
    end.view().Synchronize();
    best = std::max(best, kBytes / (end.view().MillisecondsSince(begin.view()) * 1e-3));
  }
  return best;
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int ordinal) : traits_(QueryTraits(ordinal)) {
    cudaDeviceProp properties = {};
    Check(cudaGetDeviceProperties(&properties, ordinal));
    info_.label = "cuda:" + std::to_string(ordinal);
    info_.name = properties.name;
    info_.ordinal = ordinal;
    info_.memory_bytes = properties.totalGlobalMem;
    info_.multiprocessors = properties.multiProcessorCount;
    info_.memory_bytes_per_second = MemoryPeak(ordinal);
    info_.copy_bytes_per_second = MeasureCopyPeak();
    LoadKernels();
  }

  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Lane> CreateLane(size_t slot_count, size_t slot_bytes,
                                   std::string* error) override {
    if (slot_bytes > kFoldNodes * kLeafBytes) {
      *error = info_.label + " takes slots of at most " + std::to_string(kFoldNodes * kLeafBytes) +
               " bytes, not of " + std::to_string(slot_bytes);
      return nullptr;
    }
    try {
      UseDevice(traits_.ordinal);
      auto lane = std::make_unique<CudaLane>(traits_, &clock_, slot_count, slot_bytes);
      if (WarmUp(*lane)) return lane;
      *error = lane->error();
    } catch (const CudaError& refusal) {
      *error = info_.label + " cannot make a lane of " + std::to_string(slot_count) + " slots of " +
               std::to_string(slot_bytes) + " bytes: " + refusal.what();
    }
    return nullptr;
  }

 private:
  // One launch of one task and one of two.
  static bool WarmUp(CudaLane& lane) {
    std::fill_n(lane.slot(0), 2 * kRowBytes, std::byte{0});
    Task tasks[2];
    tasks[0].count = 1;
    tasks[1].count = 1;
    tasks[1].x_offset = kRowBytes;
    State states[2];
    Completion completion;
    for (const size_t count : {size_t{1}, size_t{2}}) {
      if (!lane.Launch(0, 2 * kRowBytes, Plan{}, std::span(tasks, count)) ||
          !lane.Wait(0, std::span(states, count), &completion)) {
        return false;
      }
    }
    return true;
  }

  DeviceTraits traits_;
  DeviceInfo info_;
  DeviceClock clock_;
};

}  // namespace
}  // namespace cuda

std::vector<std::unique_ptr<Backend>> CreateCudaBackends(std::string* reason) {
  std::vector<std::unique_ptr<Backend>> backends;
  reason->clear();
  int count = 0;
  // Without a driver this says "driver version is insufficient" as often as "no device".
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    cudaGetLastError();
    *reason = "no CUDA device is visible";
    if (code == cudaErrorInsufficientDriver) {
      *reason = "there is no NVIDIA driver, or one that is too old for this build";
    } else if (code != cudaSuccess) {
      *reason = cudaGetErrorString(code);
    }
    return backends;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      backends.push_back(std::make_unique<cuda::CudaBackend>(ordinal));
    } catch (const cuda::CudaError& error) {
      if (!reason->empty()) *reason += "; ";
      *reason += "cuda:" + std::to_string(ordinal) + " cannot be used: " + error.what();
    }
  }
  return backends;
}

}  // namespace reduction::kernels
