// Many segments of an array in device memory: each has the bits of the CPU for the segment alone.
#include <cmath>

#include "kernels/cuda/segment_kernels.h"
#include "kernels/cuda/segment_reduce.h"
#include "tests/gpu/device_fixture.h"

namespace reduction::testing {
namespace {

using kernels::ElementType;
using kernels::Plan;
using kernels::State;
using kernels::cuda::SegmentLayout;
using kernels::cuda::SegmentReducer;

constexpr uint64_t kMaxSegments = 300'000;

class Segments : public DeviceTest, public ::testing::WithParamInterface<ElementType> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped()) segments_.emplace(0, kMaxSegments);
  }
  size_t element_size() const { return kernels::ElementSize(GetParam()); }
  uint64_t row() const { return kernels::kRowBytes / element_size(); }
  uint64_t leaf() const { return kernels::kLeafBytes / element_size(); }

  // The segments between `offsets` of the elements from `start` on, by their offsets on the device
  // or, where length is not 0, as equal ones.
  void ExpectCpuBits(const Plan& plan, const TwinArray& x, uint64_t start,
                     const std::vector<uint64_t>& offsets, uint64_t length = 0) {
    const size_t size = element_size();
    const kernels::cuda::DeviceBuffer on_device(offsets.size() * sizeof(uint64_t));
    kernels::cuda::CopyToDevice(on_device.data(), offsets.data(),
                                offsets.size() * sizeof(uint64_t));
    SegmentLayout layout;
    layout.segments = offsets.size() - 1;
    layout.length = length;
    if (length == 0) layout.offsets = reinterpret_cast<const uint64_t*>(on_device.data());
    segments_->Enqueue(plan, x.device(start * size), offsets.back(), layout, stream_->view());
    stream_->view().Synchronize();
    const std::vector<State> states = segments_->Results();
    ASSERT_EQ(states.size(), layout.segments);
    for (uint64_t i = 0; i < states.size() && !HasFailure(); ++i) {
      const std::byte* const begin = x.host((start + offsets[i]) * size);
      const State expected =
          kernels::ReduceOnCpu(plan, begin, begin, offsets[i + 1] - offsets[i], 0);
      EXPECT_EQ(StateDifference(plan, states[i], expected), "")
          << kernels::ElementTypeName(plan.type) << ", components " << plan.components
          << ", NaN policy " << static_cast<int>(plan.nan_policy) << ", segment " << i << " of "
          << states.size() << ", elements " << offsets[i] << " to " << offsets[i + 1] << " from "
          << start;
    }
  }

  std::optional<SegmentReducer> segments_;
};

INSTANTIATE_TEST_SUITE_P(Types, Segments, ::testing::ValuesIn(kernels::kAllElementTypes),
                         TypeTestName);

TEST_P(Segments, OfEqualLengthHaveTheBitsOfTheCpu) {
  const uint64_t most = CappedCount(20 * leaf());
  for (const Filling filling : {Filling::kMixed, Filling::kModest}) {
    const TwinArray x(RandomArray(GetParam(), filling, most + 16, random_));
    for (const Plan& plan : PlansOf(GetParam(), kernels::cuda::kSegmentSets)) {
      for (const uint64_t length : {uint64_t{1}, uint64_t{3}, row() / 4, row() / 2, row() / 2 + 1,
                                    row(), row() + 1, 8 * row() - 1, 8 * row(), 8 * row() + 1,
                                    leaf() - 1, leaf(), leaf() + 1, 5 * leaf() + 7, most}) {
        if (!sample_.Takes() || length > most) continue;
        std::vector<uint64_t> offsets;
        const uint64_t number = std::min<uint64_t>(most / length, 5000);
        for (uint64_t i = 0; i <= number; ++i) offsets.push_back(i * length);
        ExpectCpuBits(plan, x, Draw(16), offsets, length);
      }
    }
  }
}

TEST_P(Segments, OfAnyLengthHaveTheBitsOfTheCpu) {
  const uint64_t most = CappedCount(60 * leaf());
  const TwinArray x(RandomArray(GetParam(), Filling::kMixed, most + 16, random_));
  for (const Plan& plan : PlansOf(GetParam(), kernels::cuda::kSegmentSets)) {
    for (const double longest : {3.0, 200.0, 9.0 * static_cast<double>(row()),
                                 2.5 * static_cast<double>(leaf()), static_cast<double>(most)}) {
      if (!sample_.Takes()) continue;
      // Log-uniform lengths, and some empty segments.
      std::vector<uint64_t> offsets = {0};
      while (offsets.back() < most && offsets.size() < 4000) {
        const double u = static_cast<double>(Draw(1 << 20)) / (1 << 20);
        const uint64_t length =
            Draw(8) == 0 ? 0 : static_cast<uint64_t>(std::exp(u * std::log(longest + 1)));
        offsets.push_back(std::min(most, offsets.back() + length));
      }
      offsets.push_back(offsets.back());
      ExpectCpuBits(plan, x, Draw(16), offsets);
    }
  }
}

TEST_P(Segments, OfManyThousandLeavesHaveTheBitsOfTheCpu) {
  // Several groups of nodes, and neighbours that begin and end within windows.
  const uint64_t most = CappedCount(2600 * leaf());
  const TwinArray x(RandomArray(GetParam(), Filling::kMixed, most + 16, random_));
  Plan plan;
  plan.type = GetParam();
  for (const kernels::Components set : kernels::cuda::kSegmentSets) {
    plan.components = set;
    ExpectCpuBits(plan, x, 1, {0, 5, most / 2 + 3, most / 2 + 3, most - 2, most});
    ExpectCpuBits(plan, x, 0, {0, most}, most);
  }
}

TEST_P(Segments, ThatAreAllEmptyAreStatesOfNoElements) {
  const TwinArray x(RandomArray(GetParam(), Filling::kMixed, 16, random_));
  for (const Plan& plan : PlansOf(GetParam(), kernels::cuda::kSegmentSets)) {
    ExpectCpuBits(plan, x, 0, std::vector<uint64_t>(1000, 0));
    ExpectCpuBits(plan, x, 3, {0, 0, 0, 2, 2});
  }
}

}  // namespace
}  // namespace reduction::testing
