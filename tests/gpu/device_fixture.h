// What the tests of the CUDA backend share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_reduce.h"
#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/device_reduce.h"
#include "kernels/ordered_fold.h"
#include "tests/random_array.h"
#include "tests/state_difference.h"
#include "tests/test_environment.h"

namespace reduction::testing {

// REDUCTION_TEST_MAX_ELEMENTS caps the arrays of these tests, for runs under compute-sanitizer.
inline uint64_t CappedCount(uint64_t count) {
  const char* const cap = std::getenv("REDUCTION_TEST_MAX_ELEMENTS");
  if (cap == nullptr) return count;
  return std::min<uint64_t>(count, std::strtoull(cap, nullptr, 10));
}

// Which of a test's many cases run: all, or with REDUCTION_TEST_SAMPLE=N each Nth from a random one
// on, for tools that make kernels some hundred times slower.
class Sample {
 public:
  explicit Sample(uint64_t seed) {
    const char* const every = std::getenv("REDUCTION_TEST_SAMPLE");
    if (every != nullptr) every_ = std::max<uint64_t>(std::strtoull(every, nullptr, 10), 1);
    case_ = seed % every_;
  }
  // Whether the next case runs.
  bool Takes() { return case_++ % every_ == 0; }

 private:
  uint64_t every_ = 1;
  uint64_t case_;
};

inline bool HasDevice() {
  int count = 0;
  const bool has = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  cudaGetLastError();
  return has;
}

// Elements in host memory and their copy in device memory.
class TwinArray {
 public:
  explicit TwinArray(std::vector<std::byte> bytes)
      : host_(Padded(std::move(bytes))), device_(host_.size()) {
    kernels::cuda::CopyToDevice(device_.data(), host_.data(), host_.size());
  }
  const std::byte* host(size_t byte = 0) const { return host_.data() + byte; }
  const std::byte* device(size_t byte = 0) const { return device_.data() + byte; }

 private:
  // Kernels read whole words.
  static std::vector<std::byte> Padded(std::vector<std::byte> bytes) {
    bytes.resize((bytes.size() + 15) / 16 * 16);
    return bytes;
  }

  std::vector<std::byte> host_;
  kernels::cuda::DeviceBuffer device_;
};

// Skips where there is no device; draws from a seed that failures print.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasDevice()) GTEST_SKIP() << "no CUDA device";
    reducer_.emplace(0);
    stream_.emplace();
    trace_.emplace(__FILE__, __LINE__, "REDUCTION_TEST_SEED=" + std::to_string(seed_));
  }

  uint64_t Draw(uint64_t end) { return random_() % end; }

  // The state of `count` elements from element x_at of x and y_at of y, on the device.
  kernels::State OnDevice(const kernels::Plan& plan, const std::byte* x, const std::byte* y,
                          uint64_t count, uint64_t first_index = 0,
                          const kernels::cuda::LaunchShape* shape = nullptr) {
    // Tests fill arrays through the default stream, which a non-blocking stream does not wait for.
    kernels::cuda::Check(cudaDeviceSynchronize());
    reducer_->Enqueue(plan, x, y, count, first_index, stream_->view(), shape);
    stream_->view().Synchronize();
    return reducer_->Result();
  }

  // Expects equal bits of a slice of two arrays on the device and on the CPU.
  void ExpectCpuBits(const kernels::Plan& plan, const TwinArray& x, size_t x_at, const TwinArray& y,
                     size_t y_at, uint64_t count, uint64_t first_index = 0,
                     const kernels::cuda::LaunchShape* shape = nullptr) {
    const size_t size = kernels::ElementSize(plan.type);
    const kernels::State expected =
        kernels::ReduceOnCpu(plan, x.host(x_at * size), y.host(y_at * size), count, first_index);
    const kernels::State state =
        OnDevice(plan, x.device(x_at * size), y.device(y_at * size), count, first_index, shape);
    EXPECT_EQ(StateDifference(plan, state, expected), "")
        << kernels::ElementTypeName(plan.type) << ", components " << plan.components
        << ", NaN policy " << static_cast<int>(plan.nan_policy) << ", " << count << " elements at "
        << x_at << " and " << y_at << ", first index " << first_index;
  }

  // Another one in every run, unless REDUCTION_TEST_SEED repeats one.
  const uint64_t seed_ =
      std::getenv("REDUCTION_TEST_SEED") == nullptr ? std::random_device{}() : TestSeed();
  std::mt19937_64 random_{seed_};
  Sample sample_{seed_};
  std::optional<kernels::cuda::DeviceReducer> reducer_;
  std::optional<kernels::cuda::CudaStream> stream_;

 private:
  std::optional<::testing::ScopedTrace> trace_;
};

// Of the types and policies that a test takes in turn.
inline std::vector<kernels::Plan> PlansOf(kernels::ElementType type,
                                          std::span<const kernels::Components> sets) {
  std::vector<kernels::Plan> plans;
  for (const kernels::Components set : sets) {
    kernels::Plan plan;
    plan.type = type;
    plan.components = set;
    plans.push_back(plan);
    plan.nan_policy = kernels::NanPolicy::kIgnore;
    plans.push_back(plan);
  }
  return plans;
}

inline std::string TypeTestName(const ::testing::TestParamInfo<kernels::ElementType>& info) {
  return std::string(kernels::ElementTypeName(info.param));
}

}  // namespace reduction::testing
