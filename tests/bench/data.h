// The benchmark's data, and exact references for what reductions of it must give.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/element_type.h"

namespace reduction::bench {

using kernels::ElementType;
using kernels::cuda::CudaStreamView;
using kernels::cuda::DeviceBuffer;

// Benchmark data are integers times a power of two, small enough that float64 sums of any order are
// exact: neither ones nor zeros, and every element is a function of its index. float32 data lie off
// the middle of 0, so that their sum is large against what a float32 sum may be wrong by.
struct DataScale {
  int64_t low;    // integers are low to low + range - 1
  int64_t range;  // a power of two, at most 2^23; so small that no dot of integers wraps
  double unit;    // what they are multiplied by
};
DataScale ScaleOf(ElementType type);

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

// What is known of `count` elements from index x on, in units of the scale, and of their products
// with those from index y on. Sums of products are 128-bit: high * 2^32 + low.
struct Reference {
  static constexpr int kPositionBits = 40;

  int64_t sum = 0;
  int64_t magnitude = 0;  // sum of absolute values
  uint64_t nonzero = 0;
  // How far the extremum lies from its end of the scale, << kPositionBits, plus the position of the
  // first element that holds it.
  uint64_t lowest = UINT64_MAX;
  uint64_t highest = UINT64_MAX;
  uint64_t low = 0;
  int64_t high = 0;

  int64_t Min(const DataScale& scale) const {
    return scale.low + static_cast<int64_t>(lowest >> kPositionBits);
  }
  int64_t Max(const DataScale& scale) const {
    return scale.low + scale.range - 1 - static_cast<int64_t>(highest >> kPositionBits);
  }
  uint64_t argmin() const { return lowest % (uint64_t{1} << kPositionBits); }
  uint64_t argmax() const { return highest % (uint64_t{1} << kPositionBits); }
  // Rounded once: `low` alone may have more digits than a double.
  double Products() const {
    return static_cast<double>(high + static_cast<int64_t>(low >> 32)) * 0x1p32 +
           static_cast<double>(static_cast<uint32_t>(low));
  }
};
// Computed from the indexes alone, in integers. count < 2^40. Synchronises.
Reference ReferenceOf(ElementType type, uint64_t x, uint64_t y, uint64_t count,
                      CudaStreamView stream);

// The exclusive or of the 32-bit words of elements 0 to count - 1, computed from the indexes alone.
// Their size is a multiple of 4 bytes. Synchronises.
uint32_t ChecksumOf(ElementType type, uint64_t count, CudaStreamView stream);

}  // namespace reduction::bench
