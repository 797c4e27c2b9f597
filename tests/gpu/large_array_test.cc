// Arrays long enough for every tuned shape, and for indexes beyond 32 bits.
#include <thread>

#include "kernels/result.h"
#include "tests/gpu/device_fixture.h"

namespace reduction::testing {
namespace {

using kernels::Algorithm;
using kernels::ElementType;
using kernels::Plan;
using kernels::State;
using kernels::Statistic;
using kernels::cuda::DeviceBuffer;

class LongArray : public DeviceTest, public ::testing::WithParamInterface<ElementType> {};

INSTANTIATE_TEST_SUITE_P(Types, LongArray, ::testing::ValuesIn(kernels::kAllElementTypes),
                         TypeTestName);

TEST_P(LongArray, GivesTheBitsOfTheCpu) {
  const size_t size = kernels::ElementSize(GetParam());
  const uint64_t most = CappedCount(uint64_t{1} << 26);
  // Repeats a random block whose length no unit divides.
  std::vector<std::byte> bytes =
      RandomArray(GetParam(), Filling::kMixed, std::min<uint64_t>(most, 1'000'003), random_);
  const size_t block = bytes.size();
  bytes.resize((most + 16) * size);
  for (size_t at = block; at < bytes.size(); ++at) bytes[at] = bytes[at - block];
  const TwinArray x(std::move(bytes));
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  for (Plan plan : PlansOf(GetParam(), kernels::cuda::kComponentSets)) {
    for (const uint64_t count : {most, most / 4 - 1, most / 16 + 1}) {
      if (!sample_.Takes()) continue;
      const uint64_t x_at = Draw(8);
      const uint64_t y_at = Draw(8);
      const State expected = kernels::ReduceOnCpuParallel(plan, x.host(x_at * size),
                                                          x.host(y_at * size), count, threads);
      const State state = OnDevice(plan, x.device(x_at * size), x.device(y_at * size), count);
      EXPECT_EQ(StateDifference(plan, state, expected), "")
          << "components " << plan.components << ", " << count << " elements";
    }
  }
}

class HugeArray : public DeviceTest {
 protected:
  // `count` copies of `value` in device memory; empty when the device or the cap has no room.
  template <class T>
  std::optional<DeviceBuffer> Filled(uint64_t count, T value) {
    size_t free = 0;
    size_t total = 0;
    kernels::cuda::Check(cudaMemGetInfo(&free, &total));
    const size_t bytes = count * sizeof(T);
    if (CappedCount(count) < count || bytes + (size_t{1} << 28) > free) return std::nullopt;
    DeviceBuffer buffer(bytes);
    const std::vector<T> block(std::min<uint64_t>(count, 1 << 20), value);
    size_t done = block.size() * sizeof(T);
    kernels::cuda::CopyToDevice(buffer.data(), block.data(), done);
    while (done < bytes) {
      const size_t more = std::min(done, bytes - done);
      kernels::cuda::Check(
          cudaMemcpy(buffer.data() + done, buffer.data(), more, cudaMemcpyDeviceToDevice));
      done += more;
    }
    return buffer;
  }

  kernels::Value ValueOf(Statistic statistic, ElementType type, const DeviceBuffer& buffer,
                         uint64_t count, Algorithm algorithm) {
    Plan plan;
    plan.type = type;
    plan.components = kernels::ComponentsOf(statistic);
    plan.algorithm = algorithm;
    const State state = OnDevice(plan, buffer.data(), nullptr, count);
    return kernels::Finalize(statistic, type, state, count, {}).value;
  }
};

constexpr Algorithm kBoth[] = {Algorithm::kTwoPass, Algorithm::kAtomic};

TEST_F(HugeArray, OnesIntCountsBeyond31Bits) {
  const uint64_t count = (uint64_t{1} << 31) + 5;
  const auto buffer = Filled<int32_t>(count, 1);
  if (!buffer) GTEST_SKIP() << "no room for 8 GiB";
  for (const Algorithm algorithm : kBoth) {
    EXPECT_EQ(ValueOf(Statistic::kSum, ElementType::kInt32, *buffer, count, algorithm),
              kernels::Value(int64_t{2147483653}));
  }
}

TEST_F(HugeArray, LastBigIndexNeedsMoreThan31Bits) {
  const uint64_t count = uint64_t{1} << 32;
  const auto buffer = Filled<uint8_t>(count, 0);
  if (!buffer) GTEST_SKIP() << "no room for 4 GiB";
  kernels::cuda::Check(cudaMemset(buffer->data() + count - 1, 1, 1));
  kernels::cuda::Check(cudaDeviceSynchronize());
  for (const Algorithm algorithm : kBoth) {
    EXPECT_EQ(ValueOf(Statistic::kMax, ElementType::kUint8, *buffer, count, algorithm),
              kernels::Value(uint64_t{1}));
    EXPECT_EQ(ValueOf(Statistic::kArgmax, ElementType::kUint8, *buffer, count, algorithm),
              kernels::Value(uint64_t{4294967295}));
  }
}

TEST_F(HugeArray, OnesFloat64CountsTo31Bits) {
  const uint64_t count = (uint64_t{1} << 31) - 1;
  const auto buffer = Filled<double>(count, 1.0);
  if (!buffer) GTEST_SKIP() << "no room for 16 GiB";
  for (const Algorithm algorithm : kBoth) {
    EXPECT_EQ(ValueOf(Statistic::kSum, ElementType::kFloat64, *buffer, count, algorithm),
              kernels::Value(2147483647.0));
  }
}

}  // namespace
}  // namespace reduction::testing
