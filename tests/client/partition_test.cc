#include "client/src/partition.h"

#include <gtest/gtest.h>

namespace reduction::detail {
namespace {

constexpr uint32_t kLeaf = 16384;
constexpr uint64_t kMiB = 1 << 20;

TEST(PartBytes, IsAMultipleOfTheLeaf) {
  for (const uint64_t bytes : {uint64_t{1}, 3 * kMiB + 7, 1000 * kMiB + 1, uint64_t{1} << 50}) {
    for (const size_t connections : {1, 2, 3, 7, 64}) {
      for (const int arrays : {1, 2}) {
        EXPECT_EQ(PartBytes(bytes, connections, kLeaf, arrays) % kLeaf, 0u);
        EXPECT_GT(PartBytes(bytes, connections, kLeaf, arrays), 0u);
      }
    }
  }
}

TEST(PartBytes, LeavesSmallArraysWhole) { EXPECT_GE(PartBytes(4 * kMiB, 8, kLeaf, 1), 4 * kMiB); }

TEST(PartBytes, GivesEveryConnectionAPart) {
  EXPECT_LE(PartBytes(40 * kMiB, 4, kLeaf, 1), 10 * kMiB);
  EXPECT_LE(PartBytes(40 * kMiB, 4, kLeaf, 2), 10 * kMiB);
}

TEST(PartBytes, GivesEveryConnectionSeveralPartsOfALargeArray) {
  EXPECT_EQ(PartBytes(1024 * kMiB, 4, kLeaf, 1), 64 * kMiB);
  EXPECT_EQ(PartBytes(uint64_t{16384} * kMiB, 4, kLeaf, 1), 256 * kMiB);
}

}  // namespace
}  // namespace reduction::detail
