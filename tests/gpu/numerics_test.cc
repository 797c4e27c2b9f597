// The rows of tests/data/numerics.tsv that concern arrays of a backend, by their ids.
#include <cmath>
#include <limits>

#include "kernels/result.h"
#include "tests/gpu/device_fixture.h"

namespace reduction::testing {
namespace {

using kernels::Algorithm;
using kernels::ElementType;
using kernels::NanPolicy;
using kernels::OverflowPolicy;
using kernels::Plan;
using kernels::Result;
using kernels::ResultError;
using kernels::ResultOptions;
using kernels::State;
using kernels::Statistic;
using kernels::Value;

constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Numerics : public DeviceTest, public ::testing::WithParamInterface<Algorithm> {
 protected:
  template <class T>
  static TwinArray Array(const std::vector<T>& values, size_t byte_offset = 0) {
    std::vector<std::byte> bytes(byte_offset + values.size() * sizeof(T));
    std::memcpy(bytes.data() + byte_offset, values.data(), values.size() * sizeof(T));
    return TwinArray(std::move(bytes));
  }

  template <class T>
  Result Reduce(Statistic statistic, const std::vector<T>& values, ResultOptions options = {},
                NanPolicy nan_policy = NanPolicy::kPropagate) {
    const TwinArray x = Array(values);
    Plan plan;
    plan.type = kernels::ElementTypeOf<T>();
    plan.components = kernels::ComponentsOf(statistic);
    plan.nan_policy = nan_policy;
    plan.algorithm = GetParam();
    const State state = OnDevice(plan, x.device(), x.device(), values.size());
    return kernels::Finalize(statistic, plan.type, state, values.size(), options);
  }

  template <class T>
  Value ValueOf(Statistic statistic, const std::vector<T>& values,
                NanPolicy nan_policy = NanPolicy::kPropagate) {
    return Reduce(statistic, values, {}, nan_policy).value;
  }

  static bool IsNan(const Value& value) {
    const double* const real = std::get_if<double>(&value);
    return real != nullptr && std::isnan(*real);
  }
};

INSTANTIATE_TEST_SUITE_P(Algorithms, Numerics,
                         ::testing::Values(Algorithm::kTwoPass, Algorithm::kAtomic),
                         [](const auto& info) {
                           return info.param == Algorithm::kAtomic ? "Atomic" : "TwoPass";
                         });

TEST_P(Numerics, ExtremaOfInfinitiesAndNans) {
  const float infinity = static_cast<float>(kInfinity);
  EXPECT_EQ(ValueOf(Statistic::kMin, std::vector<float>(10, infinity)),
            Value(kInfinity));  // inf-min
  const std::vector<float> nans = {kNanF, -1, 0, 1};
  EXPECT_TRUE(IsNan(ValueOf(Statistic::kMin, nans)));  // nan-minmax
  EXPECT_TRUE(IsNan(ValueOf(Statistic::kMax, nans)));
  EXPECT_EQ(ValueOf(Statistic::kMin, nans, NanPolicy::kIgnore), Value(-1.0));  // nan-ignore
  EXPECT_EQ(ValueOf(Statistic::kMax, nans, NanPolicy::kIgnore), Value(1.0));
  const std::vector<float> only_nans(4, kNanF);
  EXPECT_TRUE(IsNan(ValueOf(Statistic::kMax, only_nans, NanPolicy::kIgnore)));  // nan-all-ignore
  EXPECT_EQ(ValueOf(Statistic::kArgmax, std::vector<float>{kNanF, 6, 8}),
            Value(uint64_t{0}));  // nan-argmax
}

TEST_P(Numerics, OneNanAtEveryPositionClass) {
  std::vector<float> ones(CappedCount(1'000'000), 1);
  for (const size_t place : {size_t{0}, size_t{3}, size_t{4}, size_t{127}, size_t{128},
                             size_t{4095}, size_t{4096}, size_t{777'777}, ones.size() - 1}) {
    if (place >= ones.size()) continue;
    ones[place] = kNanF;
    EXPECT_TRUE(IsNan(ValueOf(Statistic::kMax, ones))) << place;  // nan-max
    EXPECT_TRUE(IsNan(ValueOf(Statistic::kMin, ones))) << place;
    EXPECT_EQ(ValueOf(Statistic::kArgmax, ones), Value(uint64_t{place}));
    ones[place] = 1;
  }
}

TEST_P(Numerics, SignsOfZero) {
  const Value sum = ValueOf(Statistic::kSum, std::vector<float>{0.0f, -0.0f});  // zero-sum
  EXPECT_FALSE(std::signbit(std::get<double>(sum)));
  for (const std::vector<float>& zeros :
       {std::vector<float>{-0.0f, 0.0f}, std::vector<float>{0.0f, -0.0f}}) {  // zero-order
    EXPECT_FALSE(std::signbit(std::get<double>(ValueOf(Statistic::kMax, zeros))));
    EXPECT_TRUE(std::signbit(std::get<double>(ValueOf(Statistic::kMin, zeros))));
  }
  EXPECT_EQ(ValueOf(Statistic::kArgmax, std::vector<float>{-0.0f, 0.0f}), Value(uint64_t{1}));
}

TEST_P(Numerics, AccumulatorsAreWideEnough) {
  EXPECT_EQ(ValueOf(Statistic::kSum, std::vector<float>(4, 0.75f)), Value(3.0));  // trunc
  const uint64_t stuck = CappedCount(40'000'000);
  EXPECT_EQ(ValueOf(Statistic::kSum, std::vector<float>(stuck, 1)),
            Value(static_cast<double>(stuck)));  // stuck
  const kernels::Float16 one{0x3c00};
  EXPECT_EQ(ValueOf(Statistic::kSum, std::vector(65'520, one)), Value(65520.0));  // f16-count
  EXPECT_EQ(ValueOf(Statistic::kMin, std::vector(16'385, one)), Value(1.0));      // f16-min
  EXPECT_EQ(ValueOf(Statistic::kSum, std::vector<int32_t>(4, 1 << 30)),
            Value(int64_t{4294967296}));  // i32-wide
  EXPECT_EQ(ValueOf(Statistic::kDot, std::vector<int8_t>(300, 127)),
            Value(int64_t{4838700}));  // i8-dot
  const kernels::Bfloat16 half{0x3f00};
  EXPECT_EQ(ValueOf(Statistic::kSum, std::vector(10'000, half)), Value(5000.0));  // bf16-sum
  std::vector<float> alternate;
  for (int i = 0; i < 1000; ++i) alternate.insert(alternate.end(), {1e8f, 1.0f, -1e8f});
  EXPECT_EQ(ValueOf(Statistic::kSum, alternate), Value(1000.0));  // alternate
}

TEST_P(Numerics, SixtyFourBitSumsWrapOrAreChecked) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  ResultOptions check;
  check.overflow = OverflowPolicy::kCheck;
  const std::vector<int64_t> over = {most, 1};
  EXPECT_EQ(ValueOf(Statistic::kSum, over), Value(-most - 1));                    // i64-wrap
  EXPECT_EQ(Reduce(Statistic::kSum, over, check).error, ResultError::kOverflow);  // i64-check
  const std::vector<int64_t> back = {most, 1, -5};
  EXPECT_EQ(Reduce(Statistic::kSum, back, check).value, Value(int64_t{most - 4}));  // i64-check-ok
}

TEST_P(Numerics, VariancesKeepTheirDigits) {
  EXPECT_EQ(
      ValueOf(Statistic::kVariance, std::vector<double>{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}),
      Value(22.5));  // var-shift
  std::vector<double> outlier = {1e9};
  const uint64_t rest = CappedCount(1'000'000);
  for (uint64_t i = 0; i < rest; ++i) outlier.push_back(static_cast<double>(i % 2));
  long double mean = 0;
  for (const double x : outlier) mean += x;
  mean /= outlier.size();
  long double squares = 0;
  for (const double x : outlier) squares += (x - mean) * (x - mean);
  const double expected = static_cast<double>(squares / outlier.size());
  EXPECT_NEAR(std::get<double>(ValueOf(Statistic::kVariance, outlier)), expected,
              1e-9 * expected);  // var-outlier
}

TEST_P(Numerics, NothingHasASumAndNoExtremum) {
  const std::vector<float> nothing;
  EXPECT_EQ(ValueOf(Statistic::kSum, nothing), Value(0.0));  // empty
  EXPECT_EQ(Reduce(Statistic::kMax, nothing).error, ResultError::kEmpty);
  EXPECT_EQ(Reduce(Statistic::kMean, nothing).error, ResultError::kEmpty);
}

TEST_P(Numerics, AlignmentChangesNoBit) {
  std::vector<float> values(CappedCount(100'003));
  for (float& value : values) value = ModestElement<float>(random_) / 3;
  Plan plan;
  plan.algorithm = Algorithm::kTwoPass;
  for (const kernels::Components set : {kernels::kSumComponent, kernels::kDotComponent}) {
    plan.components = set;
    const TwinArray aligned = Array(values);
    const State first = OnDevice(plan, aligned.device(), aligned.device(), values.size());
    for (size_t offset = 0; offset < 16; offset += sizeof(float)) {
      const TwinArray x = Array(values, offset);
      const State state = OnDevice(plan, x.device(offset), x.device(offset), values.size());
      EXPECT_EQ(StateDifference(plan, state, first), "") << offset;  // misaligned
    }
  }
}

}  // namespace
}  // namespace reduction::testing
