// Device side of the kernel benchmark: data, exact references and yardsticks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/element_type.h"

namespace reduction::bench {

using kernels::cuda::CudaStreamView;

// Benchmark data are integers times a power of two, small enough that float64 sums of any order are
// exact: neither ones nor zeros, and every element is a function of its index.
struct DataScale {
  int64_t low;    // integers are low to low + range - 1
  int64_t range;  // a power of two; small enough that no dot of integers wraps
  double unit;    // what they are multiplied by
};
DataScale ScaleOf(kernels::ElementType type);

// Fills `count` elements at `to`, the first of which has index `first`.
void FillData(kernels::ElementType type, std::byte* to, uint64_t count, uint64_t first,
              CudaStreamView stream);

// In units of the scale. Sums of squares and products are 128-bit: high * 2^32 + low.
struct Reference {
  int64_t sum = 0;
  int64_t min = INT64_MAX;
  int64_t max = INT64_MIN;
  uint64_t low = 0;
  int64_t high = 0;

  // Rounded once: `low` alone may have more digits than a double.
  double products() const {
    return static_cast<double>(high + static_cast<int64_t>(low >> 32)) * 0x1p32 +
           static_cast<double>(static_cast<uint32_t>(low));
  }
};
// Of the elements with indexes x to x + count - 1, and of their products with those from y on;
// computed from the indexes alone, in integers. Synchronises.
Reference ReferenceOf(kernels::ElementType type, uint64_t x, uint64_t y, uint64_t count,
                      CudaStreamView stream);

// Waits until *opened, in mapped memory, is `turn` or more; a second at most.
void EnqueueWait(const uint32_t* opened, uint32_t turn, CudaStreamView stream);

// Reads `bytes` bytes at `from`, which is aligned to 16, and writes nothing: the ceiling.
void EnqueueScan(const std::byte* from, size_t bytes, int multiprocessors, CudaStreamView stream);

// cub::DeviceReduce::Sum of float32. scratch_bytes 0: sets it to what is needed, and does no more.
void EnqueueCubSum(const float* from, uint64_t count, float* result, void* scratch,
                   size_t* scratch_bytes, CudaStreamView stream);

}  // namespace reduction::bench
