// The CPU as a device: lanes with staging slots that compute runs and whole small arrays.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "tests/random_array.h"
#include "tests/reference_reduce.h"
#include "tests/state_difference.h"
#include "tests/test_environment.h"

namespace reduction::testing {
namespace {

using namespace kernels;

class CpuBackendTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { backend_ = CreateCpuBackend().release(); }
  static void TearDownTestSuite() { delete backend_; }
  static Backend* backend_;
};
Backend* CpuBackendTest::backend_ = nullptr;

TEST_F(CpuBackendTest, DescribesTheMachine) {
  const DeviceInfo& info = backend_->info();
  EXPECT_EQ(info.label, "cpu");
  EXPECT_NE(info.name, "");
  EXPECT_EQ(info.ordinal, -1);
  EXPECT_GE(info.multiprocessors, 1);
  EXPECT_GT(info.memory_bytes, uint64_t{1} << 24);
  EXPECT_GT(info.memory_bytes_per_second, 0);
  EXPECT_GT(info.copy_bytes_per_second, 0);
}

TEST_F(CpuBackendTest, SlotsAreAlignedAndApart) {
  std::string error;
  const auto lane = backend_->CreateLane(3, 4 * kLeafBytes, &error);
  ASSERT_NE(lane, nullptr) << error;
  EXPECT_EQ(lane->slot_count(), 3u);
  EXPECT_EQ(lane->slot_bytes(), 4 * kLeafBytes);
  EXPECT_FALSE(lane->copies_to_device());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(lane->slot(i)) % kRowBytes, 0u);
    std::memset(lane->slot(i), static_cast<int>(i + 1), lane->slot_bytes());
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(lane->slot(i)[0], std::byte(i + 1));
    EXPECT_EQ(lane->slot(i)[lane->slot_bytes() - 1], std::byte(i + 1));
  }
}

TEST_F(CpuBackendTest, LaneTooLargeForMemoryIsRefusedWithAReason) {
  if (kSanitized) GTEST_SKIP() << "sanitizers abort where malloc would return null";
  std::string error;
  EXPECT_EQ(backend_->CreateLane(1, size_t{1} << 60, &error), nullptr);
  EXPECT_NE(error.find("memory"), std::string::npos);
}

TEST_F(CpuBackendTest, LaunchComputesEachTaskFromItsOwnBeginning) {
  std::mt19937_64 random(11);
  std::string error;
  const auto lane = backend_->CreateLane(2, 8 * kLeafBytes, &error);
  ASSERT_NE(lane, nullptr) << error;
  const Plan all{ElementType::kFloat32, kAllOneArrayComponents};
  const Plan dot{ElementType::kFloat32, kDotComponent};
  const auto x = RandomArray(ElementType::kFloat32, Filling::kModest, 4096 * 8, random);
  const auto y = RandomArray(ElementType::kFloat32, Filling::kModest, 4096 * 8, random);
  std::memcpy(lane->slot(0), x.data(), 4 * kLeafBytes);
  std::memcpy(lane->slot(1), x.data(), 2 * kLeafBytes);
  std::memcpy(lane->slot(1) + 2 * kLeafBytes, y.data(), 2 * kLeafBytes);

  const std::vector<Task> runs = {{0, 0, 2 * 4096, 1000 * 4096}, {2 * kLeafBytes, 0, 3, 0}};
  const std::vector<Task> pairs = {{kRowBytes, 3 * kLeafBytes, 555, 0}};
  ASSERT_TRUE(lane->Launch(0, 4 * kLeafBytes, all, runs));
  ASSERT_TRUE(lane->Launch(1, 4 * kLeafBytes, dot, pairs));

  std::vector<State> states(1);
  Completion completion;
  ASSERT_TRUE(lane->Wait(1, states, &completion));
  EXPECT_EQ(StateDifference(dot, states[0],
                            ReferenceReduce(dot, x.data() + kRowBytes, y.data() + kLeafBytes, 555)),
            "");
  states.resize(2);
  ASSERT_TRUE(lane->Wait(0, states, &completion));
  EXPECT_EQ(StateDifference(all, states[0],
                            ReferenceReduce(all, x.data(), nullptr, 2 * 4096, 1000 * 4096)),
            "");
  EXPECT_EQ(
      StateDifference(all, states[1], ReferenceReduce(all, x.data() + 2 * kLeafBytes, nullptr, 3)),
      "");
  EXPECT_EQ(completion.algorithm, Algorithm::kTwoPass);
  EXPECT_EQ(completion.copy.begin_ns, completion.copy.end_ns);
  EXPECT_GT(completion.kernel.begin_ns, 0);
  EXPECT_GE(completion.kernel.end_ns, completion.kernel.begin_ns);
  EXPECT_EQ(lane->error(), "");
}

}  // namespace
}  // namespace reduction::testing
