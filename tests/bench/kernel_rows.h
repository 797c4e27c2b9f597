// Rows of the kernel benchmark: what is run, that its result is right, and how it is timed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/cuda_event.h"
#include "kernels/cuda/device_reduce.h"
#include "kernels/result.h"
#include "tests/bench/device_rows.h"

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

// Starts of slices of `count` elements, far apart; each call gives the next.
class Slices {
 public:
  Slices(uint64_t total, uint64_t count)
      : slots_(std::clamp<uint64_t>(total / count, 1, 4096)),
        spacing_(total / slots_ / 4096 * 4096) {}
  uint64_t Next() { return next_++ % slots_ * spacing_; }

 private:
  uint64_t slots_;
  uint64_t spacing_;
  uint64_t next_ = 0;
};

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
           uint64_t apart = 0, const LaunchShape* shape = nullptr) {
    Plan plan;
    plan.type = data_.type();
    plan.components = components;
    plan.algorithm = algorithm;
    const double arrays = components == kernels::kDotComponent ? 2 : 1;
    Row row{std::move(name),
            [=, this](uint64_t first) {
              reducer_.Enqueue(plan, data_.at(first), data_.at(first + apart), count, 0,
                               stream_.view(), shape);
            },
            arrays * static_cast<double>(count * kernels::ElementSize(data_.type()))};
    Verify(row.name, plan, row, count, apart);
    return row;
  }

  // Rows take turns over cold slices.
  void Time(std::vector<Row*> rows, uint64_t span, int repetitions) {
    constexpr int kWarmUps = 3;
    Slices slices(data_.count(), span);
    for (int i = -kWarmUps; i < repetitions; ++i) {
      for (Row* row : rows) {
        begin_.view().Record(stream_.view());
        row->enqueue(slices.Next());
        end_.view().Record(stream_.view());
        stream_.view().Synchronize();
        if (i >= 0) row->milliseconds.push_back(end_.view().MillisecondsSince(begin_.view()));
      }
    }
  }

 private:
  void Verify(const std::string& name, const Plan& plan, const Row& row, uint64_t count,
              uint64_t apart) {
    row.enqueue(0);
    stream_.view().Synchronize();
    const State state = reducer_.Result();
    const auto key = std::tuple(plan.type, apart, count);
    if (key != reference_key_) reference_ = ReferenceOf(plan.type, 0, apart, count, stream_.view());
    reference_key_ = key;
    const Reference& reference = reference_;
    const double unit = ScaleOf(plan.type).unit;
    const auto expect = [&](const char* what, double got, double want, double tolerance) {
      if (std::abs(got - want) <= tolerance) return;
      ++wrong_;
      std::fprintf(stderr, "WRONG %s, %s: %.17g instead of %.17g\n", name.c_str(), what, got, want);
    };
    const auto value = [&](kernels::Statistic statistic) {
      const kernels::Value v = kernels::Finalize(statistic, plan.type, state, count, {}).value;
      return std::visit(
          [](auto x) {
            if constexpr (std::is_same_v<decltype(x), std::monostate>) {
              return std::nan("");
            } else {
              return static_cast<double>(x);
            }
          },
          v);
    };
    const auto has = [&](Components c) { return (plan.components & c) != 0; };
    const double sum = static_cast<double>(reference.sum) * unit;
    const double products = reference.products() * unit * unit;
    const double magnitude = static_cast<double>(count) * unit * unit *
                             std::pow(static_cast<double>(ScaleOf(plan.type).range), 2);
    if (has(kernels::kSumComponent)) expect("sum", value(kernels::Statistic::kSum), sum, 0);
    if (has(kernels::kDotComponent)) {
      expect("dot", value(kernels::Statistic::kDot), products, 1e-15 * magnitude);
    }
    if (has(kernels::kExtremaComponent)) {
      expect("min", value(kernels::Statistic::kMin), reference.min * unit, 0);
      expect("max", value(kernels::Statistic::kMax), reference.max * unit, 0);
    }
    if (has(kernels::kSquaresComponent)) {
      expect("squares", value(kernels::Statistic::kSumOfSquares), products, 1e-15 * magnitude);
    }
    if (has(kernels::kMomentsComponent)) {
      const double n = static_cast<double>(count);
      expect("variance", value(kernels::Statistic::kVariance), products / n - sum / n * (sum / n),
             1e-12 * magnitude / n);
    }
    if (has(kernels::kNanCountComponent)) expect("NaNs", state.nan_count, 0, 0);
  }

  CudaStream stream_;
  Data data_;
  DeviceReducer reducer_;
  DeviceBuffer scratch_;
  DeviceBuffer cub_result_;
  size_t scratch_bytes_ = 0;
  int multiprocessors_ = 0;
  CudaEvent begin_;
  CudaEvent end_;
  uint64_t wrong_ = 0;
  Reference reference_;  // of the last row checked
  std::tuple<ElementType, uint64_t, uint64_t> reference_key_{};
};

}  // namespace reduction::bench
