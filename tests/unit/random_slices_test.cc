// Random slices of one buffer: every vector target, any number of threads and any aligned chunks
// give the bits of one thread without vector instructions. tests/gpu has the same of the GPU.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "kernels/cpu/cpu_reduce.h"
#include "kernels/ordered_fold.h"
#include "tests/slice_draw.h"
#include "tests/state_difference.h"
#include "tests/test_environment.h"
#include "tests/vector_targets.h"

namespace reduction::testing {
namespace {

using namespace kernels;

constexpr int kDraws = kSanitized ? 5 : 84;  // of each of the 12 types
constexpr uint64_t kMostElements = uint64_t{1} << (kSanitized ? 14 : 20);

class RandomSlices : public ::testing::TestWithParam<ElementType> {
 protected:
  const std::byte* x(const SliceDraw& draw, uint64_t element = 0) const {
    return buffer_.bytes.data() + (draw.x_at + element) * ElementSize(GetParam());
  }
  const std::byte* y(const SliceDraw& draw, uint64_t element = 0) const {
    return buffer_.bytes.data() + (draw.y_at + element) * ElementSize(GetParam());
  }

  // The slice in random aligned runs of leaves, each by a random target.
  State InChunks(const SliceDraw& draw) {
    const uint64_t leaf = kLeafBytes / ElementSize(GetParam());
    const uint64_t leaves = LeafCount(draw.count * ElementSize(GetParam()));
    OrderedFold fold(IsFloating(GetParam()));
    while (fold.next_leaf() < leaves) {
      const LeafRun run = NextRun(fold.next_leaf(), leaves, random_() % 7);
      const uint64_t begin = run.first_leaf * leaf;
      const uint64_t count = std::min(leaf << run.level, draw.count - begin);
      const ScopedTarget scope(targets_[random_() % targets_.size()]);
      fold.Push(run, ReduceOnCpu(draw.plan, x(draw, begin), y(draw, begin), count,
                                 draw.first_index + begin));
    }
    return fold.Total();
  }

  std::mt19937_64 random_{TestSeed() + static_cast<uint64_t>(GetParam())};
  const SliceBuffer buffer_ = MakeSliceBuffer(GetParam(), kMostElements, random_);
  const std::vector<int64_t> targets_ = RunnableTargets();
};

INSTANTIATE_TEST_SUITE_P(Types, RandomSlices, ::testing::ValuesIn(kAllElementTypes),
                         [](const auto& info) { return std::string(ElementTypeName(info.param)); });

TEST_P(RandomSlices, HaveTheSameBitsOnEveryTargetInThreadsAndInChunks) {
  std::cout << SeedTrace() << '\n';
  for (int i = 0; i < kDraws && !HasFailure(); ++i) {
    const SliceDraw draw = DrawSlice(GetParam(), buffer_, kMostElements, random_);
    SCOPED_TRACE("draw " + std::to_string(i) + ": " + draw.Describe());
    const auto expect_bits = [&](const State& state, const State& expected) {
      EXPECT_EQ(StateDifference(draw.plan, state, expected), "");
    };
    State expected;
    for (const int64_t target : targets_) {
      SCOPED_TRACE(target == 0 ? "no vectors" : hwy::TargetName(target));
      const ScopedTarget scope(target);
      const State state = ReduceOnCpu(draw.plan, x(draw), y(draw), draw.count, draw.first_index);
      if (target == 0) expected = state;
      expect_bits(state, expected);
    }
    expect_bits(InChunks(draw), expected);
    if (draw.first_index == 0) {
      const unsigned threads = 2 + random_() % 7;
      expect_bits(ReduceOnCpuParallel(draw.plan, x(draw), y(draw), draw.count, threads), expected);
    }
  }
}

}  // namespace
}  // namespace reduction::testing
