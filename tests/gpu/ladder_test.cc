// The teaching ladder: every step is right for every length.
#include "kernels/ladder/ladder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/gpu/device_fixture.h"

namespace reduction::testing {
namespace {

namespace ladder = kernels::ladder;
using kernels::cuda::Check;
using kernels::cuda::CopyToDevice;
using kernels::cuda::CudaStream;
using kernels::cuda::DeviceBuffer;

constexpr size_t kPoisoned = 4096;  // elements behind the array and behind the workspace

std::vector<size_t> Lengths() {
  std::vector<size_t> lengths = {0, 1, 2, 3, 4, 5, 31, 32, 33, 1'000'003, 1 << 22};
  // One block and two of each step, one more pass of each step, and the bounds of a vector.
  for (const size_t edge : {256, 512, 1024, 2048, 256 * 256, 512 * 512, 4096 * 256}) {
    for (const size_t length : {edge - 1, edge, edge + 1}) lengths.push_back(length);
  }
  for (size_t& length : lengths) length = CappedCount(length);
  return lengths;
}

// Device memory for arrays of up to `most` elements. What lies behind the array is all ones: NaN,
// or -1, so that a read past the end changes the sum.
template <class T>
class LadderArray {
 public:
  explicit LadderArray(size_t most)
      : x_((most + kPoisoned) * sizeof(T)),
        workspace_((ladder::WorkspaceElements(most) + kPoisoned) * sizeof(T)),
        result_(sizeof(T)) {}

  // The sum of the elements, twice in a row into the same slot: a step may count on nothing that is
  // in it. Expects equal results (within `spread`) and no write behind the workspace.
  T Sum(const ladder::Row<T>& row, const std::vector<T>& elements, double spread = 0) {
    const size_t count = elements.size();
    Check(cudaMemset(x_.data(), 0xff, x_.size()));
    Check(cudaMemset(workspace_.data(), 0xff, workspace_.size()));
    Check(cudaMemset(result_.data(), 0xff, result_.size()));
    // After the fillings above, which the stream below does not wait for either.
    CopyToDevice(x_.data(), elements.data(), count * sizeof(T));
    T results[2];
    for (T& result : results) {
      row.launch({reinterpret_cast<const T*>(x_.data()), count,
                  reinterpret_cast<T*>(workspace_.data()), reinterpret_cast<T*>(result_.data()),
                  stream_.view()});
      stream_.view().Synchronize();
      Check(cudaMemcpy(&result, result_.data(), sizeof(T), cudaMemcpyDeviceToHost));
    }
    EXPECT_LE(std::abs(static_cast<double>(results[0]) - static_cast<double>(results[1])), spread);
    ExpectUntouched(ladder::WorkspaceElements(count));
    return results[0];
  }

 private:
  void ExpectUntouched(size_t workspace_elements) {
    std::vector<unsigned char> behind(kPoisoned * sizeof(T));
    Check(cudaMemcpy(behind.data(), workspace_.data() + workspace_elements * sizeof(T),
                     behind.size(), cudaMemcpyDeviceToHost));
    EXPECT_TRUE(std::all_of(behind.begin(), behind.end(), [](auto byte) { return byte == 0xff; }))
        << "written behind the workspace";
  }

  DeviceBuffer x_;
  DeviceBuffer workspace_;
  DeviceBuffer result_;
  CudaStream stream_;
};

template <class T>
class LadderTest : public ::testing::TestWithParam<ladder::Row<T>> {
 protected:
  void SetUp() override {
    if (!HasDevice()) GTEST_SKIP() << "no CUDA device";
    array_.emplace(std::ranges::max(Lengths()));
    trace_.emplace(__FILE__, __LINE__, "seed " + std::to_string(seed_));
  }

  const uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  std::optional<LadderArray<T>> array_;

 private:
  std::optional<::testing::ScopedTrace> trace_;
};

using FloatLadder = LadderTest<float>;
using IntLadder = LadderTest<int32_t>;

template <class T>
std::string RowTestName(const ::testing::TestParamInfo<ladder::Row<T>>& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return c == ':' || c == ',' || c == '-'; });
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ladder, FloatLadder, ::testing::ValuesIn(ladder::kLadder),
                         RowTestName<float>);
INSTANTIATE_TEST_SUITE_P(Series, FloatLadder, ::testing::ValuesIn(ladder::kSeries),
                         RowTestName<float>);
INSTANTIATE_TEST_SUITE_P(Handbook, IntLadder, ::testing::ValuesIn(ladder::kHandbook),
                         RowTestName<int32_t>);

// Magnitudes sum to less than 2^24, so that no order of additions rounds; none is 0, so that every
// element counts.
TEST_P(FloatLadder, SumsSmallIntegersExactly) {
  for (const size_t count : Lengths()) {
    std::vector<float> elements(count);
    int64_t expected = 0;
    for (float& element : elements) {
      const int64_t magnitude = 1 + static_cast<int64_t>(random_() % 3);
      const int64_t value = random_() % 2 == 0 ? magnitude : -magnitude;
      expected += value;
      element = static_cast<float>(value);
    }
    EXPECT_EQ(array_->Sum(GetParam(), elements), static_cast<float>(expected))
        << count << " elements";
  }
}

TEST_P(FloatLadder, StaysWithinTheErrorBound) {
  int multiprocessors = 0;
  Check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  for (const size_t count : Lengths()) {
    std::vector<float> elements(count);
    int64_t expected = 0;  // and what follows it: in units of 2^-23
    int64_t magnitude = 0;
    for (float& element : elements) {
      const int64_t value = static_cast<int64_t>(random_() % (1 << 23)) - (1 << 22);
      expected += value;
      magnitude += std::abs(value);
      element = static_cast<float>(value) * 0x1p-23f;
    }
    const double bound = ladder::ErrorBound(count, static_cast<unsigned>(multiprocessors)) *
                         static_cast<double>(magnitude) * 0x1p-23;
    EXPECT_NEAR(array_->Sum(GetParam(), elements, 2 * bound),
                static_cast<double>(expected) * 0x1p-23, bound)
        << count << " elements";
  }
}

TEST_P(IntLadder, SumsModulo2To32) {
  for (const size_t count : Lengths()) {
    std::vector<int32_t> elements(count);
    uint32_t expected = 0;
    for (int32_t& element : elements) {
      element = static_cast<int32_t>(static_cast<uint32_t>(random_()));
      expected += static_cast<uint32_t>(element);
    }
    EXPECT_EQ(array_->Sum(GetParam(), elements), static_cast<int32_t>(expected))
        << count << " elements";
  }
}

}  // namespace
}  // namespace reduction::testing
