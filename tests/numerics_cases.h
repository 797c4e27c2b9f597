// The cases of tests/data/numerics.tsv as checks of any backend.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kernels/result.h"
#include "tests/repeated_mapping.h"

namespace reduction::testing {

// Reduces `count` elements in host memory; y of a dot plan only.
using Reducer = std::function<kernels::State(const kernels::Plan& plan, const std::byte* x,
                                             const std::byte* y, uint64_t count)>;

namespace numerics {

using kernels::ElementType;
using kernels::NanPolicy;
using kernels::OverflowPolicy;
using kernels::Result;
using kernels::ResultError;
using kernels::Statistic;
using kernels::Value;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr float kNanFloat = std::numeric_limits<float>::quiet_NaN();

struct Options {
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow = OverflowPolicy::kWrap;
};
inline constexpr Options kIgnore = {NanPolicy::kIgnore, OverflowPolicy::kWrap};
inline constexpr Options kCheck = {NanPolicy::kPropagate, OverflowPolicy::kCheck};

inline Result ReduceBytes(const Reducer& reduce, Statistic statistic, ElementType type,
                          const std::byte* x, const std::byte* y, uint64_t count,
                          const Options& options = {}) {
  const kernels::Plan plan{type, kernels::ComponentsOf(statistic), options.nan_policy};
  return kernels::Finalize(statistic, type, reduce(plan, x, y, count), count,
                           {options.overflow, 0});
}

// The statistic of a vector; a dot is with itself.
template <class T>
Result Of(const Reducer& reduce, Statistic statistic, const std::vector<T>& x,
          const Options& options = {}) {
  const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
  return ReduceBytes(reduce, statistic, kernels::ElementTypeOf<T>(), bytes, bytes, x.size(),
                     options);
}

// The double in a result. Bits compare, so that -0 is not +0.
inline uint64_t RealBits(const Result& result) {
  EXPECT_EQ(result.error, ResultError::kNone);
  const double* real = std::get_if<double>(&result.value);
  EXPECT_NE(real, nullptr);
  return kernels::BitCast<uint64_t>(real == nullptr ? 0.0 : *real);
}
inline uint64_t Bits(double x) { return kernels::BitCast<uint64_t>(x); }
inline double Real(const Result& result) { return kernels::BitCast<double>(RealBits(result)); }

inline void InfMin(const Reducer& reduce) {
  EXPECT_EQ(Real(Of(reduce, Statistic::kMin, std::vector<float>(10, INFINITY))), kInfinity);
}

inline void NanMax(const Reducer& reduce) {
  const size_t leaf = kernels::kLeafBytes / sizeof(float);
  for (const size_t at : {size_t{777'777}, size_t{0}, size_t{999'999}, size_t{127}, size_t{128},
                          leaf - 1, leaf, 16 * leaf - 1, 16 * leaf}) {
    std::vector<float> x(1'000'000, 1.0f);
    x[at] = kNanFloat;
    EXPECT_EQ(RealBits(Of(reduce, Statistic::kMax, x)), Bits(kNan)) << at;
    EXPECT_EQ(RealBits(Of(reduce, Statistic::kMin, x)), Bits(kNan)) << at;
  }
}

inline void NanMinmax(const Reducer& reduce) {
  const std::vector<float> x = {kNanFloat, -1, 0, 1};
  EXPECT_EQ(RealBits(Of(reduce, Statistic::kMin, x)), Bits(kNan));
  EXPECT_EQ(RealBits(Of(reduce, Statistic::kMax, x)), Bits(kNan));
}

inline void NanIgnore(const Reducer& reduce) {
  const std::vector<float> x = {kNanFloat, -1, 0, 1};
  EXPECT_EQ(Real(Of(reduce, Statistic::kMin, x, kIgnore)), -1);
  EXPECT_EQ(Real(Of(reduce, Statistic::kMax, x, kIgnore)), 1);
}

inline void NanAllIgnore(const Reducer& reduce) {
  const std::vector<float> x(4, kNanFloat);
  EXPECT_EQ(RealBits(Of(reduce, Statistic::kMax, x, kIgnore)), Bits(kNan));
}

inline void NanArgmax(const Reducer& reduce) {
  const std::vector<float> x = {kNanFloat, 6, 8};
  EXPECT_EQ(Of(reduce, Statistic::kArgmax, x).value, Value(uint64_t{0}));
}

inline void ZeroSum(const Reducer& reduce) {
  EXPECT_EQ(RealBits(Of(reduce, Statistic::kSum, std::vector<float>{+0.0f, -0.0f})), Bits(+0.0));
}

inline void ZeroOrder(const Reducer& reduce) {
  for (const auto& x : {std::vector<float>{-0.0f, +0.0f}, std::vector<float>{+0.0f, -0.0f}}) {
    EXPECT_EQ(RealBits(Of(reduce, Statistic::kMax, x)), Bits(+0.0));
    EXPECT_EQ(RealBits(Of(reduce, Statistic::kMin, x)), Bits(-0.0));
  }
}

inline void OnesInt(const Reducer& reduce) {
  const uint64_t count = (uint64_t{1} << 31) + 5;
  const RepeatedMapping ones(std::vector<int32_t>(1, 1), count);
  EXPECT_EQ(
      ReduceBytes(reduce, Statistic::kSum, ElementType::kInt32, ones.data(), nullptr, count).value,
      Value(int64_t{2147483653}));
}

inline void LastBig(const Reducer& reduce) {
  const uint64_t count = uint64_t{1} << 32;
  RepeatedMapping zeros(std::vector<uint8_t>(1, 0), count);
  zeros.SetLast<uint8_t>(1);
  const auto value = [&](Statistic statistic) {
    return ReduceBytes(reduce, statistic, ElementType::kUint8, zeros.data(), nullptr, count).value;
  };
  EXPECT_EQ(value(Statistic::kMax), Value(uint64_t{1}));
  EXPECT_EQ(value(Statistic::kArgmax), Value(uint64_t{4294967295}));
}

inline void OnesF64(const Reducer& reduce) {
  const uint64_t count = (uint64_t{1} << 31) - 1;
  const RepeatedMapping ones(std::vector<double>(1, 1.0), count);
  EXPECT_EQ(Real(ReduceBytes(reduce, Statistic::kSum, ElementType::kFloat64, ones.data(), nullptr,
                             count)),
            2147483647.0);
}

inline void Misaligned(const Reducer& reduce) {
  const size_t count = 100'003;
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = std::sin(static_cast<float>(i)) * 1000;
  for (const Statistic statistic : {Statistic::kSum, Statistic::kDot, Statistic::kMean}) {
    const uint64_t expected = RealBits(Of(reduce, statistic, x));
    for (size_t offset = 0; offset < 16; ++offset) {
      std::vector<std::byte> memory(count * sizeof(float) + 16);
      std::memcpy(memory.data() + offset, x.data(), count * sizeof(float));
      EXPECT_EQ(RealBits(ReduceBytes(reduce, statistic, ElementType::kFloat32,
                                     memory.data() + offset, memory.data() + offset, count)),
                expected)
          << kernels::StatisticName(statistic) << ' ' << offset;
    }
  }
}

inline void Trunc(const Reducer& reduce) {
  EXPECT_EQ(Real(Of(reduce, Statistic::kSum, std::vector<float>(4, 0.75f))), 3);
}

inline void Stuck(const Reducer& reduce) {
  EXPECT_EQ(Real(Of(reduce, Statistic::kSum, std::vector<float>(40'000'000, 1.0f))), 40'000'000);
}

inline void F16Count(const Reducer& reduce) {
  const std::vector<kernels::Float16> ones(65'520, {0x3c00});
  EXPECT_EQ(Real(Of(reduce, Statistic::kSum, ones)), 65'520);
}

inline void F16Min(const Reducer& reduce) {
  const std::vector<kernels::Float16> ones(16'385, {0x3c00});
  EXPECT_EQ(Real(Of(reduce, Statistic::kMin, ones)), 1);
}

inline void I32Wide(const Reducer& reduce) {
  EXPECT_EQ(Of(reduce, Statistic::kSum, std::vector<int32_t>(4, 1 << 30)).value,
            Value(int64_t{4294967296}));
}

inline void I8Dot(const Reducer& reduce) {
  EXPECT_EQ(Of(reduce, Statistic::kDot, std::vector<int8_t>(300, 127)).value,
            Value(int64_t{4838700}));
}

inline void I64Wrap(const Reducer& reduce) {
  EXPECT_EQ(Of(reduce, Statistic::kSum, std::vector<int64_t>{INT64_MAX, 1}).value,
            Value(std::numeric_limits<int64_t>::min()));
}

inline void I64Check(const Reducer& reduce) {
  EXPECT_EQ(Of(reduce, Statistic::kSum, std::vector<int64_t>{INT64_MAX, 1}, kCheck).error,
            ResultError::kOverflow);
}

inline void I64CheckOk(const Reducer& reduce) {
  const Result result = Of(reduce, Statistic::kSum, std::vector<int64_t>{INT64_MAX, 1, -5}, kCheck);
  EXPECT_EQ(result.error, ResultError::kNone);
  EXPECT_EQ(result.value, Value(int64_t{9223372036854775803}));
}

inline void VarShift(const Reducer& reduce) {
  const std::vector<double> x = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  EXPECT_EQ(Real(Of(reduce, Statistic::kVariance, x)), 22.5);
}

inline void VarOutlier(const Reducer& reduce) {
  std::vector<double> x = {1e9};
  for (int i = 0; i < 1'000'000; ++i) x.push_back(i % 2);
  const double n = static_cast<double>(x.size());
  double sum = 0;
  for (const double value : x) sum += value;  // integers below 2^53: exact
  const double mean = sum / n;
  double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  const double expected = squares / n;
  EXPECT_NEAR(Real(Of(reduce, Statistic::kVariance, x)), expected, 1e-9 * expected);
}

inline void Empty(const Reducer& reduce) {
  const std::vector<float> x;
  EXPECT_EQ(RealBits(Of(reduce, Statistic::kSum, x)), Bits(+0.0));
  EXPECT_EQ(Of(reduce, Statistic::kMax, x).error, ResultError::kEmpty);
  EXPECT_EQ(Of(reduce, Statistic::kMean, x).error, ResultError::kEmpty);
}

inline void Bf16Sum(const Reducer& reduce) {
  const std::vector<kernels::Bfloat16> halves(10'000, {0x3f00});
  EXPECT_EQ(Real(Of(reduce, Statistic::kSum, halves)), 5000);
}

inline void Alternate(const Reducer& reduce) {
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i) x.insert(x.end(), {1e8f, 1.0f, -1e8f});
  EXPECT_EQ(Real(Of(reduce, Statistic::kSum, x)), 1000);
}

}  // namespace numerics

// By the id in the file. Rows about bytes that are no array belong to the service.
inline const std::map<std::string, std::function<void(const Reducer&)>>& NumericsCases() {
  static const auto* const cases = new std::map<std::string, std::function<void(const Reducer&)>>{
      {"inf-min", numerics::InfMin},
      {"nan-max", numerics::NanMax},
      {"nan-minmax", numerics::NanMinmax},
      {"nan-ignore", numerics::NanIgnore},
      {"nan-all-ignore", numerics::NanAllIgnore},
      {"nan-argmax", numerics::NanArgmax},
      {"zero-sum", numerics::ZeroSum},
      {"zero-order", numerics::ZeroOrder},
      {"ones-int", numerics::OnesInt},
      {"last-big", numerics::LastBig},
      {"ones-f64", numerics::OnesF64},
      {"misaligned", numerics::Misaligned},
      {"trunc", numerics::Trunc},
      {"stuck", numerics::Stuck},
      {"f16-count", numerics::F16Count},
      {"f16-min", numerics::F16Min},
      {"i32-wide", numerics::I32Wide},
      {"i8-dot", numerics::I8Dot},
      {"i64-wrap", numerics::I64Wrap},
      {"i64-check", numerics::I64Check},
      {"i64-check-ok", numerics::I64CheckOk},
      {"var-shift", numerics::VarShift},
      {"var-outlier", numerics::VarOutlier},
      {"empty", numerics::Empty},
      {"bf16-sum", numerics::Bf16Sum},
      {"alternate", numerics::Alternate},
  };
  return *cases;
}

}  // namespace reduction::testing
