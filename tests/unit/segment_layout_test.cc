// Where equal segments begin, up to the longest array.
#include <gtest/gtest.h>

#include "kernels/cuda/segment_args.h"

namespace reduction::testing {
namespace {

using kernels::cuda::SegmentLayout;

TEST(SegmentLayout, FindsTheFirstSegmentFromAnElementOn) {
  constexpr uint64_t kMost = uint64_t{1} << 32;
  for (const uint64_t length :
       {uint64_t{1}, uint64_t{3}, uint64_t{4096}, kMost / 2 + 1, kMost - 1, kMost}) {
    const SegmentLayout layout{.segments = kMost / length, .length = length};
    for (const uint64_t at :
         {uint64_t{0}, uint64_t{1}, length - 1, length, length + 1, kMost / 2, kMost - 1, kMost}) {
      if (at > kMost) continue;
      const uint64_t segment = layout.FirstFrom(at);
      EXPECT_GE(layout.Begin(segment), at) << length;
      if (segment > 0) {
        EXPECT_LT(layout.Begin(segment - 1), at) << length;
      }
    }
  }
}

}  // namespace
}  // namespace reduction::testing
