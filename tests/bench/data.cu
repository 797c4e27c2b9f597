#include "tests/bench/data.h"

namespace reduction::bench {
namespace {

using kernels::Bfloat16;
using kernels::BitCast;
using kernels::DispatchElementType;
using kernels::Float16;
using kernels::cuda::Check;

constexpr int kThreads = 256;
constexpr int kBlocks = 4096;

// The value as binary16, of which it is a normal number or 0.
__device__ uint16_t Float16Bits(float x) {
  if (x == 0) return 0;
  const uint32_t bits = BitCast<uint32_t>(x);
  return static_cast<uint16_t>((bits >> 16 & 0x8000u) | (((bits >> 23 & 0xffu) - 112) << 10) |
                               (bits >> 13 & 0x3ffu));
}

template <class T>
__device__ T ElementAt(const DataScale& scale, uint64_t index) {
  const int64_t integer = IntegerAt(scale, index);
  const double value = static_cast<double>(integer) * scale.unit;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(integer);
  } else if constexpr (std::is_same_v<T, Float16>) {
    return {Float16Bits(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return {static_cast<uint16_t>(BitCast<uint32_t>(static_cast<float>(value)) >> 16)};
  } else {
    return static_cast<T>(value);
  }
}

// What the element brings into the exclusive or of 32-bit words.
template <class T>
__device__ uint32_t WordOf(T element, uint64_t index) {
  if constexpr (sizeof(T) == 8) {
    const uint64_t bits = BitCast<uint64_t>(element);
    return static_cast<uint32_t>(bits) ^ static_cast<uint32_t>(bits >> 32);
  } else if constexpr (sizeof(T) == 4) {
    return BitCast<uint32_t>(element);
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<uint32_t>(BitCast<uint16_t>(element)) << (index % 2 * 16);
  } else {
    return static_cast<uint32_t>(BitCast<uint8_t>(element)) << (index % 4 * 8);
  }
}

// Calls f(i) for the thread's share of 0 to count - 1.
template <class F>
__device__ void ForEach(uint64_t count, F f) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) f(i);
}

template <class T>
__global__ void Fill(T* to, uint64_t count, DataScale scale) {
  ForEach(count, [&](uint64_t i) { to[i] = ElementAt<T>(scale, i); });
}

template <class T>
__global__ void Checksum(uint64_t count, DataScale scale, uint32_t* result) {
  uint32_t own = 0;
  ForEach(count, [&](uint64_t i) { own ^= WordOf(ElementAt<T>(scale, i), i); });
  atomicXor(result, own);
}

__global__ void Refer(uint64_t x, uint64_t y, uint64_t count, DataScale scale, Reference* result) {
  Reference own;
  ForEach(count,
          [&](uint64_t i) { own.Add(scale, i, IntegerAt(scale, x + i), IntegerAt(scale, y + i)); });
  const auto word = [](auto* p) { return reinterpret_cast<unsigned long long*>(p); };
  const auto add = [&](auto* to, auto value) {
    atomicAdd(word(to), static_cast<unsigned long long>(value));
  };
  add(&result->sum, own.sum);
  add(&result->magnitude, own.magnitude);
  add(&result->nonzero, own.nonzero);
  add(&result->low, own.low);
  add(&result->high, own.high);
  atomicMin(word(&result->lowest), static_cast<unsigned long long>(own.lowest));
  atomicMin(word(&result->highest), static_cast<unsigned long long>(own.highest));
}

__device__ Reference Below(const Reference& own, int step) {
  const auto word = [step](auto x) { return __shfl_down_sync(0xffffffffu, x, step); };
  Reference other;
  other.sum = word(own.sum);
  other.magnitude = word(own.magnitude);
  other.nonzero = word(own.nonzero);
  other.lowest = word(own.lowest);
  other.highest = word(own.highest);
  other.low = word(own.low);
  other.high = word(own.high);
  return other;
}

// A warp a segment.
__global__ void ReferSegments(SegmentLayout layout, DataScale scale, Reference* results) {
  const uint64_t warps = uint64_t{gridDim.x} * blockDim.x / 32;
  const uint64_t first = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  for (uint64_t segment = first; segment < layout.segments; segment += warps) {
    const uint64_t begin = layout.Begin(segment);
    const uint64_t end = layout.Begin(segment + 1);
    Reference own;
    for (uint64_t i = begin + threadIdx.x % 32; i < end; i += 32) {
      const int64_t integer = IntegerAt(scale, i);
      own.Add(scale, i - begin, integer, integer);
    }
    for (int step = 16; step > 0; step /= 2) own.Join(Below(own, step));
    if (threadIdx.x % 32 == 0) results[segment] = own;
  }
}

// What `launch`, which gets a T in device memory that holds T{}, leaves there.
template <class T, class F>
T Computed(CudaStreamView stream, F launch) {
  const DeviceBuffer device(sizeof(T));
  T* const data = reinterpret_cast<T*>(device.data());
  T result{};
  Check(cudaMemcpyAsync(data, &result, sizeof(T), cudaMemcpyHostToDevice, stream.get()));
  launch(data);
  Check(cudaGetLastError());
  Check(cudaMemcpyAsync(&result, data, sizeof(T), cudaMemcpyDeviceToHost, stream.get()));
  stream.Synchronize();
  return result;
}

}  // namespace

DataScale ScaleOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kFloat64:
      return {-(1 << 21), 1 << 23, 0x1p-23};
    case ElementType::kFloat16:
      return {-1024, 2048, 0x1p-10};
    case ElementType::kBfloat16:
      return {-128, 256, 0x1p-7};
    case ElementType::kInt8:
      return {-128, 256, 1};
    case ElementType::kUint8:
      return {0, 256, 1};
    case ElementType::kUint16:
    case ElementType::kUint32:
    case ElementType::kUint64:
      return {0, 65536, 1};
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
      break;
  }
  return {-32768, 65536, 1};
}

void Data::Become(ElementType type) {
  if (filled_ && type_ == type) return;
  type_ = type;
  DispatchElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Fill<T><<<kBlocks, kThreads, 0, stream_.get()>>>(reinterpret_cast<T*>(buffer_.data()), count(),
                                                     ScaleOf(type));
  });
  Check(cudaGetLastError());
  stream_.Synchronize();
  filled_ = true;
}

Reference ReferenceOf(ElementType type, uint64_t x, uint64_t y, uint64_t count,
                      CudaStreamView stream) {
  return Computed<Reference>(stream, [&](Reference* result) {
    Refer<<<kBlocks, kThreads, 0, stream.get()>>>(x, y, count, ScaleOf(type), result);
  });
}

std::vector<Reference> ReferencesOf(ElementType type, const SegmentLayout& layout,
                                    CudaStreamView stream) {
  std::vector<Reference> references(layout.segments);
  const DeviceBuffer device(references.size() * sizeof(Reference));
  ReferSegments<<<kBlocks, kThreads, 0, stream.get()>>>(
      layout, ScaleOf(type), reinterpret_cast<Reference*>(device.data()));
  Check(cudaGetLastError());
  Check(cudaMemcpyAsync(references.data(), device.data(), references.size() * sizeof(Reference),
                        cudaMemcpyDeviceToHost, stream.get()));
  stream.Synchronize();
  return references;
}

uint32_t ChecksumOf(ElementType type, uint64_t count, CudaStreamView stream) {
  return Computed<uint32_t>(stream, [&](uint32_t* result) {
    DispatchElementType(type, [&](auto tag) {
      Checksum<typename decltype(tag)::type>
          <<<kBlocks, kThreads, 0, stream.get()>>>(count, ScaleOf(type), result);
    });
  });
}

}  // namespace reduction::bench
