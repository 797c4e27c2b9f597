// The CPU backend gives the bits of the reference: for every type, set of statistics, policy,
// length, alignment, vector target, and number of threads.
#include "kernels/cpu/cpu_reduce.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/offset_copy.h"
#include "tests/random_array.h"
#include "tests/reference_reduce.h"
#include "tests/state_difference.h"
#include "tests/test_environment.h"
#include "tests/vector_targets.h"

namespace reduction::testing {
namespace {

using namespace kernels;

// Each component alone, the sets that the CPU backend serves by one sweep, and all.
constexpr Components kComponentSets[] = {
    kSumComponent,
    kExtremaComponent,
    kExtremaComponent | kArgComponent,
    kSquaresComponent,
    kMomentsComponent,
    kL1Component,
    kNanCountComponent,
    kNonzeroComponent,
    kSumComponent | kMomentsComponent,
    kSumComponent | kExtremaComponent | kArgComponent | kSquaresComponent | kNanCountComponent,
    kNanCountComponent | kNonzeroComponent,
    kAllOneArrayComponents,
};
constexpr NanPolicy kPolicies[] = {NanPolicy::kPropagate, NanPolicy::kIgnore};

// Around a lane, a row, a leaf and many leaves.
std::vector<size_t> EdgeLengths(ElementType type) {
  const size_t row = kRowBytes / ElementSize(type);
  const size_t leaf = kLeafBytes / ElementSize(type);
  return {0,        1,    2,        row - 1,      row,      row + 1,           3 * row + 5,
          leaf - 1, leaf, leaf + 1, 3 * leaf - 1, 3 * leaf, 5 * leaf + row + 3};
}

std::vector<Filling> Fillings() {
  if (kSanitized) return {Filling::kAnyBits, Filling::kMixed};
  return {std::begin(kAllFillings), std::end(kAllFillings)};
}

class CpuReduceTest : public ::testing::TestWithParam<ElementType> {
 protected:
  ElementType type() const { return GetParam(); }
  std::mt19937_64 random_{TestSeed()};
};

TEST_P(CpuReduceTest, GivesTheBitsOfTheReferenceOnEveryTarget) {
  const std::vector<int64_t> targets = RunnableTargets();
  for (const Filling filling : Fillings()) {
    for (const size_t length : EdgeLengths(type())) {
      const auto bytes = RandomArray(type(), filling, length, random_);
      const OffsetCopy x(bytes, random_() % 16);
      for (const NanPolicy policy : kPolicies) {
        const State expected = ReferenceReduce({type(), kAllOneArrayComponents, policy},
                                               bytes.data(), nullptr, length, 1000);
        for (const int64_t target : targets) {
          const ScopedTarget scope(target);
          for (const Components components : kComponentSets) {
            const Plan plan{type(), components, policy};
            const State state = ReduceOnCpu(plan, x.data(), nullptr, length, 1000);
            ASSERT_EQ(StateDifference(plan, state, expected), "")
                << "components " << components << " policy " << int(policy) << " length " << length
                << " filling " << int(filling) << " target " << hwy::TargetName(target);
          }
        }
      }
    }
  }
}

TEST_P(CpuReduceTest, DotGivesTheBitsOfTheReferenceOnEveryTarget) {
  const std::vector<int64_t> targets = RunnableTargets();
  for (const Filling filling : Fillings()) {
    for (const size_t length : EdgeLengths(type())) {
      const auto x_bytes = RandomArray(type(), filling, length, random_);
      const auto y_bytes = RandomArray(type(), filling, length, random_);
      const OffsetCopy x(x_bytes, random_() % 16);
      const OffsetCopy y(y_bytes, random_() % 16);
      for (const NanPolicy policy : kPolicies) {
        const Plan plan{type(), kDotComponent, policy};
        const State expected = ReferenceReduce(plan, x_bytes.data(), y_bytes.data(), length);
        for (const int64_t target : targets) {
          const ScopedTarget scope(target);
          const State state = ReduceOnCpu(plan, x.data(), y.data(), length);
          ASSERT_EQ(StateDifference(plan, state, expected), "")
              << "policy " << int(policy) << " length " << length << " filling " << int(filling)
              << " target " << hwy::TargetName(target);
        }
      }
    }
  }
}

TEST_P(CpuReduceTest, DotOfLimitsDoesNotOverflow) {
  DispatchElementType(type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      const size_t length = 2 * kLeafBytes / sizeof(T) + 3;
      for (const T limit : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) {
        const std::vector<T> elements(length, limit);
        const auto* bytes = reinterpret_cast<const std::byte*>(elements.data());
        const Plan plan{type(), kDotComponent};
        const Plan all{type(), kAllOneArrayComponents};
        const State dot = ReferenceReduce(plan, bytes, bytes, length);
        const State state = ReferenceReduce(all, bytes, nullptr, length);
        for (const int64_t target : RunnableTargets()) {
          const ScopedTarget scope(target);
          EXPECT_EQ(StateDifference(plan, ReduceOnCpu(plan, bytes, bytes, length), dot), "");
          EXPECT_EQ(StateDifference(all, ReduceOnCpu(all, bytes, nullptr, length), state), "");
        }
      }
    }
  });
}

TEST_P(CpuReduceTest, EveryByteOffsetGivesTheSameBits) {
  const size_t length = 2 * kLeafBytes / ElementSize(type()) + 77;
  const auto x_bytes = RandomArray(type(), Filling::kMixed, length, random_);
  const auto y_bytes = RandomArray(type(), Filling::kMixed, length, random_);
  const Plan all{type(), kAllOneArrayComponents, NanPolicy::kIgnore};
  const Plan dot{type(), kDotComponent, NanPolicy::kIgnore};
  const State expected = ReferenceReduce(all, x_bytes.data(), nullptr, length);
  const State expected_dot = ReferenceReduce(dot, x_bytes.data(), y_bytes.data(), length);
  for (size_t x_offset = 0; x_offset < 16; ++x_offset) {
    const OffsetCopy x(x_bytes, x_offset);
    EXPECT_EQ(StateDifference(all, ReduceOnCpu(all, x.data(), nullptr, length), expected), "");
    for (size_t y_offset = 0; y_offset < 16; ++y_offset) {
      const OffsetCopy y(y_bytes, y_offset);
      EXPECT_EQ(StateDifference(dot, ReduceOnCpu(dot, x.data(), y.data(), length), expected_dot),
                "")
          << x_offset << ' ' << y_offset;
    }
  }
}

TEST_P(CpuReduceTest, EveryNumberOfThreadsGivesTheSameBits) {
  const size_t leaf = kLeafBytes / ElementSize(type());
  for (const size_t length : {size_t{0}, size_t{1}, leaf - 1, leaf, 2 * leaf + 1, 77 * leaf + 5}) {
    const auto x = RandomArray(type(), Filling::kMixed, length, random_);
    const auto y = RandomArray(type(), Filling::kModest, length, random_);
    for (const Components components : {kAllOneArrayComponents, kDotComponent}) {
      const Plan plan{type(), components, NanPolicy::kIgnore};
      const State expected = ReferenceReduce(plan, x.data(), y.data(), length);
      for (const unsigned threads : {1u, 2u, 3u, 7u}) {
        const State state = ReduceOnCpuParallel(plan, x.data(), y.data(), length, threads);
        EXPECT_EQ(StateDifference(plan, state, expected), "") << length << ' ' << threads;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CpuReduceTest, ::testing::ValuesIn(kAllElementTypes),
                         [](const auto& info) { return std::string(ElementTypeName(info.param)); });

// A shape, an offset, a plan, a target and a number of threads at random.
TEST(CpuReduceRandomTest, GivesTheBitsOfTheReference) {
  SCOPED_TRACE(SeedTrace());
  std::mt19937_64 random(TestSeed());
  const std::vector<int64_t> targets = RunnableTargets();
  for (int round = 0; round < (kSanitized ? 50 : 1500); ++round) {
    const ElementType type = kAllElementTypes[random() % std::size(kAllElementTypes)];
    const size_t length = random() % (size_t{1} << (random() % 18));
    const Filling filling = kAllFillings[random() % std::size(kAllFillings)];
    const auto x_bytes = RandomArray(type, filling, length, random);
    const auto y_bytes = RandomArray(type, filling, length, random);
    const OffsetCopy x(x_bytes, random() % 64);
    const OffsetCopy y(y_bytes, random() % 64);
    Plan plan{type, random() % 4 == 0 ? kDotComponent : 1 + Components(random() % 255),
              random() % 2 == 0 ? NanPolicy::kPropagate : NanPolicy::kIgnore};
    if ((plan.components & kArgComponent) != 0) plan.components |= kExtremaComponent;
    const State expected = ReferenceReduce(plan, x_bytes.data(), y_bytes.data(), length);
    const ScopedTarget scope(targets[random() % targets.size()]);
    const unsigned threads = 1 + random() % 4;
    const State state = ReduceOnCpuParallel(plan, x.data(), y.data(), length, threads);
    ASSERT_EQ(StateDifference(plan, state, expected), "")
        << ElementTypeName(type) << " components " << plan.components << " length " << length
        << " round " << round;
  }
}

// A NaN at the first and last element, lane, row and leaf edges, among numbers or among NaNs.
TEST(CpuReduceNanTest, OneNanIsFoundWhereverItIs) {
  const size_t length = 3 * kLeafBytes / sizeof(float) + 130;
  for (const size_t at : {size_t{0}, size_t{1}, size_t{127}, size_t{128}, size_t{4095},
                          size_t{4096}, size_t{8191}, length - 1}) {
    std::vector<float> x(length, 1.0f);
    x[at] = -std::numeric_limits<float>::quiet_NaN();
    const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
    const Plan propagate{ElementType::kFloat32, kAllOneArrayComponents};
    const State with = ReduceOnCpu(propagate, bytes, nullptr, length);
    EXPECT_EQ(with.min_key, kLowestKey);
    EXPECT_EQ(with.max_key, kHighestKey);
    EXPECT_EQ(with.argmin, at);
    EXPECT_EQ(with.argmax, at);
    EXPECT_EQ(with.nan_count, 1u);
    const Plan ignore{ElementType::kFloat32, kAllOneArrayComponents, NanPolicy::kIgnore};
    const State without = ReduceOnCpu(ignore, bytes, nullptr, length);
    EXPECT_EQ(without.count, length - 1);
    EXPECT_EQ(without.sum, static_cast<double>(length - 1));
    EXPECT_EQ(without.argmin, at == 0 ? 1u : 0u);
    EXPECT_EQ(without.m2, 0);
  }
}

}  // namespace
}  // namespace reduction::testing
