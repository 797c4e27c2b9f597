// Page-locked host memory that devices copy from at full speed.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "kernels/cuda/cuda_error.h"

namespace reduction::kernels::cuda {

// Owns `bytes` of page-locked memory, aligned to a page, valid for every device (portable), cached
// by the CPU as usual (write-back). The non-owning view is a std::span.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(size_t bytes) : size_(bytes) {
    Check(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable));
  }
  ~PinnedBuffer() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
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

}  // namespace reduction::kernels::cuda
