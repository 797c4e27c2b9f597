// The caller's floating-point environment changes no bit, and it is given back.
#include "kernels/float_environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <vector>

#include "kernels/cpu/cpu_reduce.h"
#include "kernels/partial.h"
#include "kernels/result.h"
#include "tests/hostile_environment.h"
#include "tests/state_difference.h"

namespace reduction::testing {
namespace {

using namespace kernels;

TEST(FloatEnvironmentTest, CallersEnvironmentChangesNoState) {
  const std::vector<double> x = Sensitive();
  const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
  for (const Components components : {kAllOneArrayComponents, kDotComponent}) {
    const Plan plan{ElementType::kFloat64, components};
    const State expected = ReduceOnCpu(plan, bytes, bytes, x.size());
    State one, many;
    bool kept = false;
    {
      const HostileEnvironment hostile;
      std::feclearexcept(FE_ALL_EXCEPT);
      one = ReduceOnCpu(plan, bytes, bytes, x.size());
      many = ReduceOnCpuParallel(plan, bytes, bytes, x.size(), 3);
      kept = hostile.StillThere();
    }
    EXPECT_TRUE(kept);
    EXPECT_EQ(StateDifference(plan, one, expected), "");
    EXPECT_EQ(StateDifference(plan, many, expected), "");
  }
}

TEST(FloatEnvironmentTest, CallersEnvironmentChangesNoResultAndNoCombination) {
  const std::vector<double> x = Sensitive();
  const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
  const uint64_t leaf = kLeafBytes / sizeof(double);
  const Plan plan{ElementType::kFloat64, kAllOneArrayComponents};
  std::vector<Partial> parts;
  for (uint64_t at = 0; at < x.size(); at += leaf) {
    const uint64_t count = std::min<uint64_t>(leaf, x.size() - at);
    const State state = ReduceOnCpu(plan, bytes + at * sizeof(double), nullptr, count, at);
    parts.push_back({plan, at, count, {{{at / leaf, 0}, state}}});
  }
  const auto compute = [&] {
    std::vector<Value> values;
    uint64_t elements = 0;
    std::string error;
    const State state = CombinePartials(parts, &elements, &error).value();
    for (const Statistic statistic : kAllStatistics) {
      if (statistic == Statistic::kDot) continue;
      values.push_back(Finalize(statistic, plan.type, state, elements, {}).value);
    }
    values.push_back(ExactMean(Int128::FromInt64(INT64_MAX - 1), 3));
    values.push_back(ExactMean(Int128::FromInt64(INT64_MIN + 1), 7));
    return values;
  };
  const std::vector<Value> expected = compute();
  std::vector<Value> values;
  bool kept = false;
  {
    const HostileEnvironment hostile;
    std::feclearexcept(FE_ALL_EXCEPT);
    values = compute();
    kept = hostile.StillThere();
  }
  EXPECT_TRUE(kept);
  EXPECT_EQ(values, expected);
}

}  // namespace
}  // namespace reduction::testing
