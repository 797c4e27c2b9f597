// Memory of a device.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "kernels/cuda/cuda_error.h"

namespace reduction::kernels::cuda {

// Owns `bytes` of the current device's memory, uninitialised, aligned to 256 bytes. The size is
// rounded up to whole 16-byte vectors. The non-owning view is a std::span of device memory.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(size_t bytes) : size_((bytes + 15) / 16 * 16) {
    if (size_ != 0) Check(cudaMalloc(&data_, size_));
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) cudaFree(data_);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  size_t size() const { return size_; }
  std::span<std::byte> view() const { return {data(), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// Copies `bytes` of host memory to `to` in device memory. When this returns they are there for
// every stream: of pageable memory cudaMemcpy may return before, and the streams of this backend do
// not wait for the default one.
inline void CopyToDevice(void* to, const void* from, size_t bytes) {
  Check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  Check(cudaStreamSynchronize(nullptr));
}

}  // namespace reduction::kernels::cuda
