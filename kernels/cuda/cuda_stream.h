// A CUDA stream: CudaStream owns, CudaStreamView does not.
#pragma once

#include <utility>

#include "kernels/cuda/cuda_error.h"

namespace reduction::kernels::cuda {

class CudaStreamView {
 public:
  CudaStreamView() = default;  // the legacy default stream
  explicit CudaStreamView(cudaStream_t stream) : stream_(stream) {}

  cudaStream_t get() const { return stream_; }
  void Synchronize() const { Check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

// Created on the current device; does not synchronise with the legacy default stream.
class CudaStream {
 public:
  CudaStream() { Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~CudaStream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  CudaStream(CudaStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  CudaStream& operator=(CudaStream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }

  CudaStreamView view() const { return CudaStreamView(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace reduction::kernels::cuda
