// Algorithm ATOMIC: exact but for the last bits of floating-point sums.
#include <cmath>

#include "tests/gpu/device_fixture.h"

namespace reduction::testing {
namespace {

using kernels::Algorithm;
using kernels::Components;
using kernels::ElementType;
using kernels::Plan;
using kernels::State;

class AtomicReduce : public DeviceTest, public ::testing::WithParamInterface<ElementType> {};

INSTANTIATE_TEST_SUITE_P(Types, AtomicReduce, ::testing::ValuesIn(kernels::kAllElementTypes),
                         TypeTestName);

TEST_P(AtomicReduce, AgreesWithTheFixedOrder) {
  const size_t size = kernels::ElementSize(GetParam());
  const uint64_t most = CappedCount(uint64_t{1} << 21);
  const Components sets[] = {kernels::kSumComponent, kernels::kExtremaComponent,
                             kernels::kSumComponent | kernels::kExtremaComponent,
                             kernels::kDotComponent};
  for (const Filling filling : {Filling::kModest, Filling::kMixed}) {
    const TwinArray x(RandomArray(GetParam(), filling, most + 16, random_));
    const TwinArray y(RandomArray(GetParam(), filling, most + 16, random_));
    for (Plan plan : PlansOf(GetParam(), sets)) {
      for (const uint64_t count :
           {uint64_t{0}, uint64_t{1}, most / 1000, most / 64 + 3, most - 1, most}) {
        if (!sample_.Takes()) continue;
        plan.algorithm = Algorithm::kAtomic;
        const uint64_t x_at = Draw(16);
        const uint64_t y_at = Draw(16);
        const State expected =
            kernels::ReduceOnCpu(plan, x.host(x_at * size), y.host(y_at * size), count);
        State state = OnDevice(plan, x.device(x_at * size), y.device(y_at * size), count);
        EXPECT_EQ(reducer_->algorithm(), Algorithm::kAtomic);
        // Terms are below 400 and their products below 160,000: a sum is this near to any other
        // order's, whatever cancels.
        const double bound = 1e-15 * 160'000 * static_cast<double>(count);
        if (std::abs(state.sum - expected.sum) <= bound) state.sum = expected.sum;
        EXPECT_EQ(StateDifference(plan, state, expected), "")
            << "components " << plan.components << ", " << count << " elements";
      }
    }
  }
}

TEST_P(AtomicReduce, LeavesWhatItCannotServeToTwoPass) {
  const uint64_t count = CappedCount(100'003);
  const TwinArray x(RandomArray(GetParam(), Filling::kMixed, count, random_));
  Plan plan;
  plan.type = GetParam();
  plan.algorithm = Algorithm::kAtomic;
  plan.components =
      kernels::kMomentsComponent | kernels::kArgComponent | kernels::kExtremaComponent;
  ExpectCpuBits(plan, x, 0, x, 0, count);
  EXPECT_EQ(reducer_->algorithm(), Algorithm::kTwoPass);
}

}  // namespace
}  // namespace reduction::testing
