// The floating-point environment that the server was started in changes no bit of a response.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_reduce.h"
#include "server/array_reduction.h"
#include "server/device_pool.h"
#include "server/response.h"
#include "tests/hostile_environment.h"
#include "tests/state_difference.h"

namespace reduction::testing {
namespace {

using namespace kernels;
using server::ByteQueue;
using server::ReductionSpec;

ReductionSpec SpecOf(Components components, std::vector<Statistic> statistics) {
  ReductionSpec spec;
  spec.operation = server::Operation::kReduce;
  spec.plan = {ElementType::kFloat64, components};
  spec.statistics = std::move(statistics);
  return spec;
}

// An array that a lane reduces.
class ArrayWork final : public server::Work {
 public:
  ArrayWork(const ReductionSpec& spec, const std::vector<double>& x)
      : control_(std::chrono::system_clock::time_point::max()),
        reduction_(spec, server::Source::kInline, control_) {
    const size_t bytes = x.size() * sizeof(double);
    x_.Push(grpc::Slice(x.data(), bytes), 0, bytes);
  }

  size_t staged_bytes() const override { return x_.size(); }
  void Stage(server::LaneDriver& driver) override { reduction_.Consume(driver, x_, y_, true); }
  void Complete(server::LaneDriver&) override { state_.set_value(reduction_.fold().Total()); }
  // Once a lane has completed it.
  State state() { return state_.get_future().get(); }

 private:
  server::CallControl control_;
  server::ArrayReduction reduction_;
  ByteQueue x_;
  ByteQueue y_;
  std::promise<State> state_;
};

TEST(ServerEnvironmentTest, LanesFoldNodesInTheDefaultOne) {
  const std::vector<double> x = Sensitive();
  const ReductionSpec spec = SpecOf(kAllOneArrayComponents, {});
  const State expected =
      ReduceOnCpu(spec.plan, reinterpret_cast<const std::byte*>(x.data()), nullptr, x.size());
  server::Metrics metrics;
  std::string error;
  std::optional<State> state;
  {
    // Threads begin in the environment of those that make them. A slot holds a leaf, so that the
    // lane combines every two.
    const HostileEnvironment hostile;
    const auto pool = server::DevicePool::Create(
        CreateCpuBackend(), 1, 1, kLeafBytes, metrics, [] {}, &error);
    ASSERT_NE(pool, nullptr) << error;
    ArrayWork work(spec, x);
    pool->Submit(&work);
    state = work.state();
  }
  EXPECT_EQ(StateDifference(spec.plan, *state, expected), "");
}

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

TEST(ServerEnvironmentTest, ResponsesFoldWhatIsLeftOverInTheDefaultOne) {
  const std::vector<double> x = Sensitive();
  const ReductionSpec spec =
      SpecOf(kAllOneArrayComponents, {Statistic::kSum, Statistic::kVariance, Statistic::kL2Norm});
  OrderedFold fold(/*floating=*/true);
  const uint64_t leaf = kLeafBytes / sizeof(double);
  for (uint64_t at = 0; at < x.size(); at += leaf) {
    fold.Push({at / leaf, 0},
              ReduceOnCpu(spec.plan, reinterpret_cast<const std::byte*>(x.data() + at), nullptr,
                          std::min<uint64_t>(leaf, x.size() - at), at));
  }
  ASSERT_GT(fold.nodes().size(), 1u);
  const auto encode = [&] {
    grpc::ByteBuffer response;
    EXPECT_FALSE(server::EncodeResponse(spec, x.size(), fold, {}, &response).has_value());
    return Bytes(response);
  };
  const std::string expected = encode();
  std::string bytes;
  bool kept = false;
  {
    const HostileEnvironment hostile;
    std::feclearexcept(FE_ALL_EXCEPT);
    bytes = encode();
    kept = hostile.StillThere();
  }
  EXPECT_EQ(bytes, expected);
  EXPECT_TRUE(kept);
}

}  // namespace
}  // namespace reduction::testing
