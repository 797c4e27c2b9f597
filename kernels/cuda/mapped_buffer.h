// Host memory that kernels write directly: a small result needs no copy back.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/cuda/cuda_error.h"

namespace reduction::kernels::cuda {

// Owns `count` objects T in page-locked memory that the current device can address. What a kernel
// wrote is visible to the host once an event recorded after it is done.
template <class T>
class MappedBuffer {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  MappedBuffer() = default;
  explicit MappedBuffer(size_t count) : size_(count) {
    void* memory = nullptr;
    Check(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable));
    data_ = static_cast<T*>(memory);
    for (size_t i = 0; i < count; ++i) new (data_ + i) T();
    void* device = nullptr;
    const cudaError_t code = cudaHostGetDevicePointer(&device, memory, 0);
    if (code != cudaSuccess) cudaFreeHost(memory);
    Check(code);
    device_data_ = static_cast<T*>(device);
  }
  ~MappedBuffer() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  MappedBuffer(MappedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        device_data_(std::exchange(other.device_data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  MappedBuffer& operator=(MappedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(device_data_, other.device_data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::span<T> view() const { return {data_, size_}; }
  T* device_data() const { return device_data_; }

 private:
  T* data_ = nullptr;
  T* device_data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace reduction::kernels::cuda
