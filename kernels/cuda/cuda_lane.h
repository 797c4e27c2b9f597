// A lane of a CUDA device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cuda/cuda_event.h"
#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/device_clock.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/mapped_buffer.h"
#include "kernels/cuda/pinned_buffer.h"

namespace reduction::kernels::cuda {

class CudaLane final : public Lane {
 public:
  // Throws CudaError when the device refuses the memory. `clock` outlives the lane.
  CudaLane(const DeviceTraits& traits, DeviceClock* clock, size_t slot_count, size_t slot_bytes);
  ~CudaLane() override;

  size_t slot_count() const override { return slots_.size(); }
  size_t slot_bytes() const override { return slot_bytes_; }
  bool copies_to_device() const override { return true; }
  std::byte* slot(size_t index) override { return slots_[index].host.data() + kHeaderBytes; }

  bool Launch(size_t slot, size_t used_bytes, const Plan& plan,
              std::span<const Task> tasks) override;
  bool Wait(size_t slot, std::span<State> states, Completion* completion) override;
  const std::string& error() const override { return error_; }

 private:
  // The task table ends where a slot's data begin, so that one copy brings both.
  static constexpr size_t kHeaderBytes =
      (kMaxTasks * sizeof(LeafTask) + kRowBytes - 1) / kRowBytes * kRowBytes;

  struct Slot {
    explicit Slot(size_t slot_bytes);

    PinnedBuffer host;
    DeviceBuffer device;
    MappedBuffer<State> results;
    CudaEvent begin;
    CudaEvent copied;
    CudaEvent end;
    std::shared_ptr<const Epoch> epoch;  // of the outstanding launch
    Algorithm algorithm = Algorithm::kTwoPass;
  };

  void Enqueue(Slot& slot, size_t used_bytes, const Plan& plan, std::span<const Task> tasks);
  bool Lose(const CudaError& error);

  DeviceTraits traits_;
  DeviceClock* clock_;
  size_t slot_bytes_;
  CudaStream stream_;
  Workspace workspace_;
  std::vector<Slot> slots_;
  bool lost_ = false;
  std::string error_;
};

}  // namespace reduction::kernels::cuda
