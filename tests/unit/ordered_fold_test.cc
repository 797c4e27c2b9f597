// Folding nodes as they come gives the bits of the whole, however the leaves were grouped.
#include "kernels/ordered_fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "kernels/cpu/cpu_reduce.h"
#include "tests/random_array.h"
#include "tests/reference_reduce.h"
#include "tests/state_difference.h"
#include "tests/test_environment.h"

namespace reduction::testing {
namespace {

using namespace kernels;

TEST(NextRunTest, CoversARangeWithAlignedRunsThatGrowAndThenShrink) {
  for (uint64_t first = 0; first < 40; ++first) {
    for (uint64_t end = first + 1; end < 90; ++end) {
      for (const unsigned max_level : {0u, 2u, 63u}) {
        uint64_t leaf = first;
        size_t runs = 0;
        while (leaf < end) {
          const LeafRun run = NextRun(leaf, end, max_level);
          const uint64_t length = uint64_t{1} << run.level;
          ASSERT_EQ(run.first_leaf, leaf);
          ASSERT_LE(run.level, max_level);
          ASSERT_EQ(leaf % length, 0u);
          ASSERT_LE(length, end - leaf);
          // No longer run would do.
          ASSERT_TRUE(run.level == max_level || leaf % (2 * length) != 0 ||
                      2 * length > end - leaf);
          leaf += length;
          ++runs;
        }
        ASSERT_EQ(leaf, end);
        if (max_level == 63) {
          ASSERT_LE(runs, 2u * 7 + 2);
        }
      }
    }
  }
}

TEST(NextRunTest, ReachesTheLastLeafOfTheLongestArray) {
  const uint64_t end = uint64_t{1} << 50;
  EXPECT_EQ(NextRun(0, end).level, 50u);
  EXPECT_EQ(NextRun(end - 1, end).level, 0u);
  EXPECT_EQ(LeafCount(UINT64_MAX), end);
}

TEST(OrderedFoldTest, RandomAlignedChunksGiveTheBitsOfTheWhole) {
  SCOPED_TRACE(SeedTrace());
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < (kSanitized ? 40 : 150); ++round) {
    const ElementType type = kAllElementTypes[random() % std::size(kAllElementTypes)];
    const size_t size = ElementSize(type);
    const uint64_t leaf = kLeafBytes / size;
    const uint64_t count = random() % (40 * leaf) + 1;
    const auto x = RandomArray(type, kAllFillings[random() % 4], count, random);
    const Plan plan{type, kAllOneArrayComponents,
                    random() % 2 == 0 ? NanPolicy::kPropagate : NanPolicy::kIgnore};
    OrderedFold fold(IsFloating(type));
    const uint64_t leaves = LeafCount(count * size);
    while (fold.next_leaf() < leaves) {
      const LeafRun run = NextRun(fold.next_leaf(), leaves, random() % 5);
      const uint64_t begin = run.first_leaf * leaf;
      const uint64_t length = std::min(leaf << run.level, count - begin);
      fold.Push(run, ReduceOnCpu(plan, x.data() + begin * size, nullptr, length, begin));
    }
    EXPECT_EQ(StateDifference(plan, fold.Total(), ReferenceReduce(plan, x.data(), nullptr, count)),
              "")
        << ElementTypeName(type) << ' ' << count;
    // The nodes that stay are the canonical decomposition.
    uint64_t next = 0;
    for (const Node& node : fold.nodes()) {
      const LeafRun run = NextRun(next, leaves);
      EXPECT_EQ(node.run.first_leaf, run.first_leaf);
      EXPECT_EQ(node.run.level, run.level);
      next += uint64_t{1} << run.level;
    }
  }
}

TEST(OrderedFoldTest, EmptyFoldIsTheStateOfNoElements) {
  const State state = OrderedFold(true).Total();
  EXPECT_EQ(state.count, 0u);
  EXPECT_EQ(state.min_key, kHighestKey);
  EXPECT_EQ(state.max_key, kLowestKey);
  EXPECT_EQ(state.argmin, kNoIndex);
}

}  // namespace
}  // namespace reduction::testing
