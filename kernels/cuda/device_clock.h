// Times of a device's events on this process's steady clock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "kernels/cuda/cuda_event.h"
#include "kernels/cuda/cuda_stream.h"

namespace reduction::kernels::cuda {

// An event whose time is known on both clocks: to a few tens of microseconds, or on a busy machine
// to half of the time that it took to record it and to see it done.
struct Epoch {
  CudaEvent event;
  int64_t steady_ns = 0;

  // The time of `event`, which was recorded after this one and is done.
  int64_t SteadyNanoseconds(CudaEventView later) const {
    return steady_ns + static_cast<int64_t>(later.MillisecondsSince(event.view()) * 1e6);
  }
};

int64_t SteadyNow();  // nanoseconds

// Thread-safe.
class DeviceClock {
 public:
  // Of the current device.
  DeviceClock() = default;

  // An epoch at most a few seconds old: event times are float32 milliseconds, and lose precision
  // with distance. Renewal waits for the device's answer. The clock's device must be current.
  std::shared_ptr<const Epoch> Now();

 private:
  std::mutex mutex_;
  CudaStream stream_;  // idle, so that its events have the time at which they are recorded
  std::shared_ptr<const Epoch> epoch_;
};

}  // namespace reduction::kernels::cuda
