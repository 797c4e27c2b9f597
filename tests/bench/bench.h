// Rows of the kernel benchmark: what is run, that its result is right, and how it is timed.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/cuda_event.h"
#include "kernels/cuda/device_reduce.h"
#include "tests/bench/device_rows.h"
#include "tests/bench/stream_gate.h"

namespace reduction::bench {

using kernels::Algorithm;
using kernels::Components;
using kernels::ElementType;
using kernels::Plan;
using kernels::State;
using kernels::cuda::Check;
using kernels::cuda::CudaEvent;
using kernels::cuda::CudaStream;
using kernels::cuda::DeviceBuffer;
using kernels::cuda::DeviceReducer;
using kernels::cuda::LaunchShape;
using kernels::cuda::LeafKernel;

// The buffer, and what its elements are now.
class Data {
 public:
  Data(size_t bytes, const CudaStream& stream) : buffer_(bytes), stream_(stream.view()) {}

  void Become(ElementType type) {
    if (type_ == type) return;
    type_ = type;
    FillData(type, buffer_.data(), count(), 0, stream_);
    stream_.Synchronize();
  }
  ElementType type() const { return type_; }
  uint64_t count() const { return buffer_.size() / kernels::ElementSize(type_); }
  const std::byte* at(uint64_t element) const {
    return buffer_.data() + element * kernels::ElementSize(type_);
  }

 private:
  DeviceBuffer buffer_;
  CudaStreamView stream_;
  ElementType type_ = ElementType::kUint8;
};

// Starts of slices of `count` elements, far apart; each call gives the next. There are so many that
// those of a few KiB do not stay in the cache until their next turn.
class Slices {
 public:
  Slices(uint64_t total, uint64_t count)
      : slots_(std::clamp<uint64_t>(total / count, 1, 32768)),
        spacing_(total / slots_ / 4096 * 4096) {}
  uint64_t Next() { return next_++ % slots_ * spacing_; }

 private:
  uint64_t slots_;
  uint64_t spacing_;
  uint64_t next_ = 0;
};

// How many launches of `count` elements are measured together: events are too coarse for less than
// some microseconds.
inline int BatchOf(uint64_t count) { return count < (uint64_t{1} << 20) ? 16 : 1; }

struct Row {
  std::string name;
  std::function<void(uint64_t first)> enqueue;  // of the slice that starts at element `first`
  double bytes;
  std::vector<double> milliseconds = {};

  double Median() {
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() / 2];
  }
};

class Bench {
 public:
  explicit Bench(size_t bytes) : data_(bytes, stream_), reducer_(0) {
    Check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0));
    EnqueueCubSum(nullptr, data_.count(), nullptr, nullptr, &scratch_bytes_, stream_.view());
    scratch_ = DeviceBuffer(scratch_bytes_);
    cub_result_ = DeviceBuffer(sizeof(float));
  }

  Data& data() { return data_; }
  uint64_t wrong() const { return wrong_; }

  Row Cub(uint64_t count) {
    return {"CUB sum",
            [=, this](uint64_t first) {
              EnqueueCubSum(reinterpret_cast<const float*>(data_.at(first)), count,
                            reinterpret_cast<float*>(cub_result_.data()), scratch_.data(),
                            &scratch_bytes_, stream_.view());
            },
            static_cast<double>(count * sizeof(float))};
  }
  Row Ceiling(uint64_t count) {
    const size_t bytes = count * kernels::ElementSize(data_.type());
    return {"read only",
            [=, this](uint64_t first) {
              EnqueueScan(data_.at(first), bytes, multiprocessors_, stream_.view());
            },
            static_cast<double>(bytes)};
  }
  // A dot's second array starts `apart` elements after the first. Checks the row's result.
  Row Ours(std::string name, Components components, Algorithm algorithm, uint64_t count,
           uint64_t apart = 0, const LaunchShape* shape = nullptr,
           const LeafKernel* variant = nullptr) {
    Plan plan;
    plan.type = data_.type();
    plan.components = components;
    plan.algorithm = algorithm;
    const double arrays = components == kernels::kDotComponent ? 2 : 1;
    const bool own_shape = shape != nullptr;
    const bool own_loop = variant != nullptr;
    const LaunchShape launch = own_shape ? *shape : LaunchShape{};
    const LeafKernel loop = own_loop ? *variant : LeafKernel{};
    Row row{std::move(name),
            [=, this](uint64_t first) {
              reducer_.Enqueue(plan, data_.at(first), data_.at(first + apart), count, 0,
                               stream_.view(), own_shape ? &launch : nullptr,
                               own_loop ? &loop : nullptr);
            },
            arrays * static_cast<double>(count * kernels::ElementSize(data_.type()))};
    Verify(row.name, plan, row, count, apart);
    return row;
  }

  // Rows take turns over cold slices of `span` elements. Each measurement is of `batch` launches
  // of a row, one after the other, which the device starts when all are enqueued: what the host
  // needs to enqueue them is not measured. Milliseconds are of one launch.
  void Time(const std::vector<Row*>& rows, uint64_t span, int repetitions, int batch);

 private:
  void Verify(const std::string& name, const Plan& plan, const Row& row, uint64_t count,
              uint64_t apart);

  CudaStream stream_;
  Data data_;
  DeviceReducer reducer_;
  DeviceBuffer scratch_;
  DeviceBuffer cub_result_;
  size_t scratch_bytes_ = 0;
  int multiprocessors_ = 0;
  StreamGate gate_;
  CudaEvent begin_;
  CudaEvent end_;
  uint64_t wrong_ = 0;
  Reference reference_;  // of the last row checked
  std::tuple<ElementType, uint64_t, uint64_t> reference_key_{};
};

}  // namespace reduction::bench
