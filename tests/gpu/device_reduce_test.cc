// Whole arrays in device memory: the bits of the CPU, for every type, set, policy, length, address
// and launch shape.
#include "tests/gpu/device_fixture.h"

namespace reduction::testing {
namespace {

using kernels::Components;
using kernels::ElementType;
using kernels::Plan;
using kernels::Statistic;
using kernels::cuda::kComponentSets;
using kernels::cuda::LaunchShape;

class DeviceReduce : public DeviceTest, public ::testing::WithParamInterface<ElementType> {
 protected:
  size_t element_size() const { return kernels::ElementSize(GetParam()); }
  uint64_t lanes() const { return 16 / element_size(); }  // of a vector
  uint64_t row() const { return kernels::kRowBytes / element_size(); }
  uint64_t leaf() const { return kernels::kLeafBytes / element_size(); }

  TwinArray Random(Filling filling, uint64_t count) {
    return TwinArray(RandomArray(GetParam(), filling, count, random_));
  }

  std::vector<uint64_t> EdgeLengths() const {
    std::vector<uint64_t> lengths;
    for (const uint64_t edge :
         {lanes(), row(), 4 * row(), leaf(), 2 * leaf(), 3 * leaf(), 16 * leaf(), 37 * leaf()}) {
      lengths.insert(lengths.end(), {edge - 1, edge, edge + 1});
    }
    for (uint64_t& length : lengths) length = CappedCount(length);
    lengths.push_back(0);
    return lengths;
  }
};

INSTANTIATE_TEST_SUITE_P(Types, DeviceReduce, ::testing::ValuesIn(kernels::kAllElementTypes),
                         TypeTestName);

TEST_P(DeviceReduce, GivesTheBitsOfTheCpuAtEdgeLengths) {
  const uint64_t most = CappedCount(37 * leaf() + 1);
  for (const Filling filling : kAllFillings) {
    const TwinArray x = Random(filling, most + 16);
    const TwinArray y = Random(filling, most + 16);
    for (const Plan& plan : PlansOf(GetParam(), kComponentSets)) {
      for (const uint64_t length : EdgeLengths()) {
        if (!sample_.Takes()) continue;
        const uint64_t same = Draw(lanes());
        ExpectCpuBits(plan, x, same, y, same, length);
        ExpectCpuBits(plan, x, Draw(16), y, Draw(16), length, Draw(1000) * leaf());
      }
      if (HasFailure()) return;
    }
  }
}

TEST_P(DeviceReduce, GivesTheSameBitsAtEveryElementOffset) {
  const uint64_t length = CappedCount(2 * leaf() + row() + 3);
  const TwinArray x = Random(Filling::kMixed, length + 16);
  const TwinArray y = Random(Filling::kMixed, length + 16);
  for (const Plan& plan : PlansOf(GetParam(), kComponentSets)) {
    const size_t y_end = plan.components == kernels::kDotComponent ? 16 : 1;
    for (size_t x_at = 0; x_at < 16; ++x_at) {
      for (size_t y_at = 0; y_at < y_end; ++y_at) {
        if (sample_.Takes()) ExpectCpuBits(plan, x, x_at, y, y_at, length);
      }
    }
    if (HasFailure()) return;
  }
}

TEST_P(DeviceReduce, GivesTheSameBitsForRandomLaunchShapes) {
  const uint64_t most = CappedCount(uint64_t{1} << 20);
  const TwinArray x = Random(Filling::kMixed, most + 16);
  const TwinArray y = Random(Filling::kMixed, most + 16);
  const std::vector<Plan> plans = PlansOf(GetParam(), kComponentSets);
  for (int draw = 0; draw < 120 && !HasFailure(); ++draw) {
    LaunchShape shape;
    shape.unit_leaves = 1 + static_cast<uint32_t>(Draw(kernels::cuda::kMaxUnitLeaves));
    shape.chunk_level = static_cast<uint32_t>(Draw(kernels::cuda::kMaxChunkLevel + 1));
    shape.ticket = Draw(2) == 0;
    const uint64_t length = (most >> Draw(16)) - Draw(2);
    if (!sample_.Takes()) continue;
    ExpectCpuBits(plans[Draw(plans.size())], x, Draw(16), y, Draw(16), length, 0, &shape);
  }
}

TEST_P(DeviceReduce, SumsRunsOfLeavesThatEndAnywhere) {
  constexpr uint64_t kRun = kernels::cuda::kMaxRunLeaves;
  const uint64_t most = CappedCount((3 * kRun + 1) * leaf() + 1);
  const TwinArray x = Random(Filling::kMixed, most + 16);
  LaunchShape shape;
  for (const Plan& plan : PlansOf(GetParam(), std::vector{kernels::cuda::kSumSet})) {
    for (uint64_t leaves = 2; leaves <= 3 * kRun + 1; ++leaves) {
      shape.unit_leaves = 2u << Draw(3);
      for (const uint64_t length : {leaves * leaf() - 1, leaves * leaf(), leaves * leaf() + 1}) {
        if (length <= most && sample_.Takes()) {
          ExpectCpuBits(plan, x, Draw(16), x, 0, length, 0, &shape);
        }
      }
    }
  }
}

TEST_P(DeviceReduce, ServesEveryStatisticAlone) {
  const uint64_t length = CappedCount(5 * leaf() + 77);
  const TwinArray x = Random(Filling::kMixed, length);
  const TwinArray y = Random(Filling::kMixed, length);
  std::vector<Components> components;
  for (const Statistic statistic : kernels::kAllStatistics) {
    components.push_back(kernels::ComponentsOf(statistic));
  }
  for (const Plan& plan : PlansOf(GetParam(), components)) {
    ExpectCpuBits(plan, x, 0, y, 0, length);
  }
}

TEST_P(DeviceReduce, FindsAnExtremumAtEveryPositionClass) {
  const uint64_t length = CappedCount(3 * leaf() + row() + 2);
  const std::vector<std::byte> ones(length * element_size(), std::byte{1});
  Plan plan;
  plan.type = GetParam();
  plan.components = kernels::kExtremaComponent | kernels::kArgComponent;
  std::vector<uint64_t> places;
  for (const uint64_t edge : {uint64_t{1}, lanes(), row(), leaf(), 2 * leaf(), length}) {
    for (const uint64_t place : {edge - 1, edge, edge + 1}) {
      if (place < length) places.push_back(place);
    }
  }
  for (const uint64_t place : places) {
    for (const std::byte value : {std::byte{0}, std::byte{2}}) {
      std::vector<std::byte> bytes = ones;
      bytes[place * element_size() + element_size() - 1] = value;
      const TwinArray x(std::move(bytes));
      ExpectCpuBits(plan, x, 0, x, 0, length);
    }
  }
}

TEST_P(DeviceReduce, CombinesPartsToTheBitsOfTheWhole) {
  const uint64_t leaves = std::max<uint64_t>(CappedCount(41 * leaf()) / leaf(), 1);
  const uint64_t length = (leaves - 1) * leaf() + 5;
  const TwinArray x = Random(Filling::kMixed, length);
  const TwinArray y = Random(Filling::kMixed, length);
  for (const Plan& plan : PlansOf(GetParam(), kComponentSets)) {
    if (!sample_.Takes()) continue;
    kernels::OrderedFold fold(kernels::IsFloating(plan.type));
    while (fold.next_leaf() < leaves) {
      const unsigned level = static_cast<unsigned>(Draw(5));
      const kernels::LeafRun run = kernels::NextRun(fold.next_leaf(), leaves, level);
      const uint64_t first = run.first_leaf * leaf();
      const uint64_t count = std::min(length - first, leaf() << run.level);
      fold.Push(run, OnDevice(plan, x.device(first * element_size()),
                              y.device(first * element_size()), count, first));
    }
    const kernels::State whole = kernels::ReduceOnCpu(plan, x.host(), y.host(), length);
    EXPECT_EQ(StateDifference(plan, fold.Total(), whole), "") << "components " << plan.components;
  }
}

}  // namespace
}  // namespace reduction::testing
