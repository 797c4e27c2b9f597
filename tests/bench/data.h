// The benchmark's data in device memory, and the references of its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/segment_args.h"
#include "kernels/element_type.h"
#include "tests/bench/reference.h"

namespace reduction::bench {

using kernels::ElementType;
using kernels::cuda::CudaStreamView;
using kernels::cuda::DeviceBuffer;
using kernels::cuda::SegmentLayout;

// Device memory, and what its elements are now.
class Data {
 public:
  // At least 16 bytes.
  Data(size_t bytes, CudaStreamView stream) : buffer_(bytes), stream_(stream) {}

  // Fills the memory with elements of `type`, the first of which has index 0. Synchronises.
  void Become(ElementType type);
  ElementType type() const { return type_; }
  uint64_t count() const { return buffer_.size() / kernels::ElementSize(type_); }
  const std::byte* at(uint64_t element) const {
    return buffer_.data() + element * kernels::ElementSize(type_);
  }

 private:
  DeviceBuffer buffer_;
  CudaStreamView stream_;
  bool filled_ = false;
  ElementType type_ = ElementType::kUint8;
};

// Of `count` elements from index x on, with products with those from index y on. Computed from the
// indexes alone, in integers. count < 2^40. Synchronises.
Reference ReferenceOf(ElementType type, uint64_t x, uint64_t y, uint64_t count,
                      CudaStreamView stream);

// The same of each segment of the elements from index 0 on, with the products of elements with
// themselves; positions count from the segment's first element.
std::vector<Reference> ReferencesOf(ElementType type, const SegmentLayout& layout,
                                    CudaStreamView stream);

// The exclusive or of the 32-bit words of elements 0 to count - 1, computed from the indexes alone.
// Their size is a multiple of 4 bytes. Synchronises.
uint32_t ChecksumOf(ElementType type, uint64_t count, CudaStreamView stream);

}  // namespace reduction::bench
