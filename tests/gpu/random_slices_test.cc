// Random slices of one buffer in device memory: the bits of the CPU, whatever the type, the
// statistics, the policy, the algorithm, the addresses, the launch shape and the layout (whole, or
// in segments), on every vector target of the CPU.
#include <cstdlib>
#include <iostream>
#include <thread>

#include "kernels/cuda/segment_reduce.h"
#include "tests/gpu/device_fixture.h"
#include "tests/slice_draw.h"
#include "tests/vector_targets.h"

namespace reduction::testing {
namespace {

using kernels::Algorithm;
using kernels::ElementType;
using kernels::Plan;
using kernels::State;
using kernels::cuda::LaunchShape;

// Draws of all types together: 10,000, or REDUCTION_TEST_DRAWS.
uint64_t DrawsOfAType() {
  const char* const draws = std::getenv("REDUCTION_TEST_DRAWS");
  const uint64_t all = draws == nullptr ? 10'000 : std::strtoull(draws, nullptr, 10);
  return (all + std::size(kernels::kAllElementTypes) - 1) / std::size(kernels::kAllElementTypes);
}

// Whether one atomic a block gives the very bits of the fixed order: no floating-point sum.
bool AtomicIsExact(const Plan& plan) {
  return kernels::AtomicServes(plan.components) &&
         (!kernels::IsFloating(plan.type) || plan.components == kernels::kExtremaComponent);
}

class DeviceRandomSlices : public DeviceTest, public ::testing::WithParamInterface<ElementType> {
 protected:
  // On a vector target at random; short slices on every one, which must agree.
  State OnCpu(const SliceDraw& draw, const std::byte* x, const std::byte* y) {
    if (draw.count > kShortSlice) {
      const ScopedTarget scope(targets_[Draw(targets_.size())]);
      return kernels::ReduceOnCpuParallel(draw.plan, x, y, draw.count,
                                          std::thread::hardware_concurrency());
    }
    State first;
    for (const int64_t target : targets_) {
      const ScopedTarget scope(target);
      const State state = kernels::ReduceOnCpu(draw.plan, x, y, draw.count, draw.first_index);
      if (target == targets_.front()) first = state;
      EXPECT_EQ(StateDifference(draw.plan, state, first), "") << "CPU target " << target;
    }
    return first;
  }

  // Where the segments of a slice of `count` elements begin and end: of one length, or of any, some
  // empty. *length: that of equal ones, or 0.
  std::vector<uint64_t> DrawOffsets(uint64_t count, uint64_t* length) {
    const uint64_t segments = 1 + Draw(kMostSegments);
    *length = Draw(2) == 0 ? count / segments : 0;
    std::vector<uint64_t> offsets = {0};
    while (offsets.size() <= segments) {
      offsets.push_back(*length != 0 ? offsets.back() + *length : Draw(count + 1));
    }
    if (*length == 0) {
      std::sort(offsets.begin(), offsets.end());
      offsets.back() = count;
    }
    return offsets;
  }

  // The slice in random segments, each with the bits of the CPU.
  void ExpectBitsOfSegments(const SliceDraw& draw, const TwinArray& twin) {
    const size_t size = kernels::ElementSize(GetParam());
    uint64_t length = 0;
    const std::vector<uint64_t> offsets = DrawOffsets(draw.count, &length);
    const TwinArray on_device(
        {reinterpret_cast<const std::byte*>(offsets.data()),
         reinterpret_cast<const std::byte*>(offsets.data() + offsets.size())});
    kernels::cuda::SegmentLayout layout;
    layout.segments = offsets.size() - 1;
    layout.length = length;
    if (length == 0) layout.offsets = reinterpret_cast<const uint64_t*>(on_device.device());
    segments_->Enqueue(draw.plan, twin.device(draw.x_at * size), offsets.back(), layout,
                       stream_->view());
    stream_->view().Synchronize();
    const std::vector<State> states = segments_->Results();
    for (uint64_t i = 0; i < states.size() && !HasFailure(); ++i) {
      SliceDraw segment = draw;
      segment.first_index = 0;
      segment.count = offsets[i + 1] - offsets[i];
      const std::byte* const begin = twin.host((draw.x_at + offsets[i]) * size);
      EXPECT_EQ(StateDifference(draw.plan, states[i], OnCpu(segment, begin, begin)), "")
          << "segment " << i << " of " << states.size() << ", elements " << offsets[i] << " to "
          << offsets[i + 1];
    }
  }

  static constexpr uint64_t kMostSegments = 100;
  std::optional<kernels::cuda::SegmentReducer> segments_;

  // Null, the tuned shape, one time in four.
  const LaunchShape* DrawShape() {
    shape_.unit_leaves = 1 + static_cast<uint32_t>(Draw(kernels::cuda::kMaxUnitLeaves));
    shape_.chunk_level = static_cast<uint32_t>(Draw(kernels::cuda::kMaxChunkLevel + 1));
    shape_.ticket = Draw(2) == 0;
    return Draw(4) == 0 ? nullptr : &shape_;
  }

  const std::vector<int64_t> targets_ = RunnableTargets();
  LaunchShape shape_;
};

INSTANTIATE_TEST_SUITE_P(Types, DeviceRandomSlices, ::testing::ValuesIn(kernels::kAllElementTypes),
                         TypeTestName);

TEST_P(DeviceRandomSlices, HaveTheBitsOfTheCpu) {
  const uint64_t most = CappedCount(uint64_t{1} << 26);
  const uint64_t draws = DrawsOfAType();
  std::cout << draws << " draws, REDUCTION_TEST_SEED=" << seed_ << '\n';
  SliceBuffer buffer = MakeSliceBuffer(GetParam(), most, random_);
  const TwinArray twin(std::move(buffer.bytes));
  const size_t size = kernels::ElementSize(GetParam());
  segments_.emplace(0, kMostSegments);
  for (uint64_t i = 0; i < draws && !HasFailure(); ++i) {
    SliceDraw draw = DrawSlice(GetParam(), buffer, most, random_);
    if (AtomicIsExact(draw.plan) && Draw(2) == 0) draw.plan.algorithm = Algorithm::kAtomic;
    const LaunchShape* const shape = DrawShape();
    if (!sample_.Takes()) continue;
    SCOPED_TRACE("draw " + std::to_string(i) + ": " + draw.Describe());
    if (draw.plan.components != kernels::kDotComponent && Draw(4) == 0) {
      draw.plan.algorithm = Algorithm::kTwoPass;
      ExpectBitsOfSegments(draw, twin);
      continue;
    }
    const State expected = OnCpu(draw, twin.host(draw.x_at * size), twin.host(draw.y_at * size));
    const State state =
        OnDevice(draw.plan, twin.device(draw.x_at * size), twin.device(draw.y_at * size),
                 draw.count, draw.first_index, shape);
    EXPECT_EQ(StateDifference(draw.plan, state, expected), "")
        << (shape == nullptr ? "tuned" : "random") << " launch shape";
  }
}

}  // namespace
}  // namespace reduction::testing
