#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "kernels/cuda/cuda_error.h"
#include "tests/bench/yardsticks.h"

namespace reduction::bench {
namespace {

using kernels::cuda::Check;
using kernels::cuda::CudaStreamView;
using kernels::cuda::DeviceBuffer;
using kernels::cuda::SegmentLayout;

constexpr int kScanThreads = 512;

__device__ uint32_t Folded(const uint4& v) { return v.x ^ v.y ^ v.z ^ v.w; }

__global__ void __launch_bounds__(kScanThreads)
    Scan(const uint4* from, size_t vectors, uint32_t* checks) {
  constexpr int kInFlight = 4;
  const size_t stride = size_t{gridDim.x} * kScanThreads;
  const size_t first = size_t{blockIdx.x} * kScanThreads + threadIdx.x;
  size_t i = first;
  uint32_t bits = 0;
  for (; i + (kInFlight - 1) * stride < vectors; i += kInFlight * stride) {
    uint4 v[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) v[k] = __ldcs(from + i + k * stride);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) bits ^= Folded(v[k]);
  }
  for (; i < vectors; i += stride) bits ^= Folded(__ldcs(from + i));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) bits ^= __shfl_xor_sync(0xffffffffu, bits, step);
  if (threadIdx.x % 32 == 0) checks[first / 32] = bits;
}

struct BeginOfEqual {
  int64_t length;
  __host__ __device__ int64_t operator()(int64_t segment) const { return segment * length; }
};

// Equal segments need no offsets in memory.
void CubSegments(void* scratch, size_t* bytes, const float* from, const SegmentLayout& layout,
                 float* sums, CudaStreamView stream) {
  const auto sum = [&](auto begins) {
    Check(cub::DeviceSegmentedReduce::Sum(scratch, *bytes, from, sums,
                                          static_cast<int64_t>(layout.segments), begins, begins + 1,
                                          stream.get()));
  };
  if (layout.offsets != nullptr) {
    sum(layout.offsets);
  } else {
    sum(thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0),
                                        BeginOfEqual{static_cast<int64_t>(layout.length)}));
  }
}

}  // namespace

size_t CubSegmentScratchBytes(const SegmentLayout& layout) {
  size_t bytes = 0;
  CubSegments(nullptr, &bytes, nullptr, layout, nullptr, CudaStreamView());
  return bytes;
}

void EnqueueCubSegments(const float* from, const SegmentLayout& layout, float* sums,
                        const DeviceBuffer& scratch, CudaStreamView stream) {
  size_t bytes = scratch.size();
  CubSegments(scratch.data(), &bytes, from, layout, sums, stream);
}

void EnqueueScan(const std::byte* from, size_t bytes, int multiprocessors, uint32_t* checks,
                 CudaStreamView stream) {
  const size_t vectors = bytes / sizeof(uint4);
  const size_t most = ScanWarps(multiprocessors) * 32 / kScanThreads;
  const size_t blocks = std::min(most, (vectors + kScanThreads - 1) / kScanThreads);
  Scan<<<static_cast<unsigned>(blocks), kScanThreads, 0, stream.get()>>>(
      reinterpret_cast<const uint4*>(from), vectors, checks);
  Check(cudaGetLastError());
}

template <class T>
size_t LibrarySums<T>::CubScratchBytes(uint64_t count) {
  size_t bytes = 0;
  const T* const from = nullptr;
  T* const result = nullptr;
  Check(cub::DeviceReduce::Sum(nullptr, bytes, from, result, count));
  return bytes;
}

template <class T>
void LibrarySums<T>::EnqueueCub(const T* from, uint64_t count, T* result,
                                const DeviceBuffer& scratch, CudaStreamView stream) {
  size_t bytes = scratch.size();
  Check(cub::DeviceReduce::Sum(scratch.data(), bytes, from, result, count, stream.get()));
}

template <class T>
T LibrarySums<T>::Thrust(const T* from, uint64_t count, CudaStreamView stream) {
  return thrust::reduce(thrust::cuda::par.on(stream.get()), from, from + count, T{0});
}

template struct LibrarySums<float>;
template struct LibrarySums<double>;
template struct LibrarySums<int32_t>;
template struct LibrarySums<int64_t>;

}  // namespace reduction::bench
