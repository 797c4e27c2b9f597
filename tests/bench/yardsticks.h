// What our kernels are measured against: CUB, Thrust and a kernel that only reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/segment_args.h"

namespace reduction::bench {

// Warps of the read-only kernel's largest grid.
constexpr size_t ScanWarps(int multiprocessors) {
  return static_cast<size_t>(multiprocessors) * 4 * 512 / 32;
}

// Reads `bytes` bytes at `from`, both multiples of 16: the ceiling. Warp w of the grid leaves the
// exclusive or of the 32-bit words that it read in checks[w]; there are ScanWarps() checks, and
// those of warps that are not launched stay what they were.
void EnqueueScan(const std::byte* from, size_t bytes, int multiprocessors, uint32_t* checks,
                 kernels::cuda::CudaStreamView stream);

// Sums of libraries, accumulated in T: float, double, int32_t or int64_t.
template <class T>
struct LibrarySums {
  // cub::DeviceReduce::Sum in CubScratchBytes(count) bytes of scratch or more.
  static size_t CubScratchBytes(uint64_t count);
  static void EnqueueCub(const T* from, uint64_t count, T* result,
                         const kernels::cuda::DeviceBuffer& scratch,
                         kernels::cuda::CudaStreamView stream);
  // thrust::reduce, which allocates what it needs and synchronises the stream.
  static T Thrust(const T* from, uint64_t count, kernels::cuda::CudaStreamView stream);
};

// cub::DeviceSegmentedReduce::Sum of float32, accumulated in float32: a sum a segment of the
// layout, in as many bytes of scratch or more.
size_t CubSegmentScratchBytes(const kernels::cuda::SegmentLayout& layout);
void EnqueueCubSegments(const float* from, const kernels::cuda::SegmentLayout& layout, float* sums,
                        const kernels::cuda::DeviceBuffer& scratch,
                        kernels::cuda::CudaStreamView stream);

}  // namespace reduction::bench
