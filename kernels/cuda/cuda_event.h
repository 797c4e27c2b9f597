// A CUDA event that takes times: CudaEvent owns, CudaEventView does not.
#pragma once

#include <utility>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_stream.h"

namespace reduction::kernels::cuda {

class CudaEventView {
 public:
  explicit CudaEventView(cudaEvent_t event) : event_(event) {}

  cudaEvent_t get() const { return event_; }
  void Record(CudaStreamView stream) const { Check(cudaEventRecord(event_, stream.get())); }
  // Whether all work before the last Record() is done.
  bool IsDone() const {
    const cudaError_t code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    Check(code);
    return true;
  }
  // Sleeps until then; does not spin.
  void Synchronize() const { Check(cudaEventSynchronize(event_)); }
  // From `earlier` to this event; both done. float32 milliseconds: 1 us of resolution at 10 s.
  double MillisecondsSince(CudaEventView earlier) const {
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_;
};

class CudaEvent {
 public:
  CudaEvent() { Check(cudaEventCreateWithFlags(&event_, cudaEventBlockingSync)); }
  ~CudaEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  CudaEventView view() const { return CudaEventView(event_); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace reduction::kernels::cuda
