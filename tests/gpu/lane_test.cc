// Lanes: staged bytes in, tree nodes out.
#include <cstring>
#include <thread>

#include "kernels/backend.h"
#include "kernels/cuda/device_clock.h"
#include "tests/gpu/device_fixture.h"

namespace reduction::testing {
namespace {

using kernels::Algorithm;
using kernels::Backend;
using kernels::Completion;
using kernels::Lane;
using kernels::Plan;
using kernels::State;
using kernels::Task;

constexpr size_t kSlots = 2;
constexpr size_t kSlotBytes = 64 * kernels::kLeafBytes;

// Arrays of one plan in host memory, reduced through a lane and on the CPU.
struct Job {
  Plan plan;
  std::vector<std::byte> x;
  std::vector<std::byte> y;
  uint64_t count = 0;

  Job(const Plan& job_plan, uint64_t elements, std::mt19937_64& random)
      : plan(job_plan),
        x(RandomArray(plan.type, Filling::kMixed, elements, random)),
        y(RandomArray(plan.type, Filling::kMixed, elements, random)),
        count(elements) {}
  bool dot() const { return plan.components == kernels::kDotComponent; }
  size_t element_size() const { return kernels::ElementSize(plan.type); }
  State OnCpu() const { return kernels::ReduceOnCpu(plan, x.data(), y.data(), count); }
};

size_t RoundUpToRow(size_t bytes) {
  return (bytes + kernels::kRowBytes - 1) / kernels::kRowBytes * kernels::kRowBytes;
}

// Fills a slot with tasks.
struct SlotWriter {
  std::byte* slot;
  size_t used = 0;
  std::vector<Task> tasks;

  size_t Append(const std::byte* from, size_t bytes) {
    const size_t at = used;
    if (bytes != 0) std::memcpy(slot + at, from, bytes);
    used = RoundUpToRow(at + bytes);
    return at;
  }
  void Add(const Job& job, uint64_t first, uint64_t count) {
    Task task;
    task.count = count;
    task.first_index = first;
    const size_t size = job.element_size();
    task.x_offset = Append(job.x.data() + first * size, count * size);
    if (job.dot()) task.y_offset = Append(job.y.data() + first * size, count * size);
    tasks.push_back(task);
  }
};

// Runs of random length through the slots in turn, two launches outstanding where there are two.
State ThroughLane(Lane& lane, const Job& job, std::mt19937_64& random) {
  const uint64_t leaf = kernels::kLeafBytes / job.element_size();
  const uint64_t leaves = kernels::LeafCount(job.count * job.element_size());
  const unsigned deepest = job.dot() ? 5 : 6;  // 2^6 leaves fill a slot
  kernels::OrderedFold fold(kernels::IsFloating(job.plan.type));
  std::vector<kernels::LeafRun> outstanding[kSlots];
  const auto collect = [&](size_t slot) {
    std::vector<State> states(outstanding[slot].size());
    if (states.empty()) return;
    Completion completion;
    ASSERT_TRUE(lane.Wait(slot, states, &completion)) << lane.error();
    for (size_t i = 0; i < states.size(); ++i) fold.Push(outstanding[slot][i], states[i]);
    outstanding[slot].clear();
  };
  uint64_t next = 0;
  size_t slot = 0;
  while (next < leaves) {
    collect(slot);
    SlotWriter writer{lane.slot(slot), 0, {}};
    const unsigned level = static_cast<unsigned>(random() % (deepest + 1));
    const size_t fitting = (size_t{1} << deepest) >> level;
    const size_t tasks = std::min<size_t>(1 + random() % fitting, Lane::kMaxTasks);
    while (writer.tasks.size() < tasks && next < leaves) {
      const kernels::LeafRun run = kernels::NextRun(next, leaves, level);
      const uint64_t first = run.first_leaf * leaf;
      writer.Add(job, first, std::min(job.count - first, leaf << run.level));
      outstanding[slot].push_back(run);
      next += uint64_t{1} << run.level;
    }
    EXPECT_TRUE(lane.Launch(slot, writer.used, job.plan, writer.tasks)) << lane.error();
    slot = (slot + 1) % kSlots;
  }
  for (size_t i = 0; i < kSlots; ++i) collect((slot + i) % kSlots);
  return fold.Total();
}

class CudaLane : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasDevice()) GTEST_SKIP() << "no CUDA device";
    std::string reason;
    backends_ = kernels::CreateCudaBackends(&reason);
    ASSERT_FALSE(backends_.empty()) << reason;
    trace_.emplace(__FILE__, __LINE__, "seed " + std::to_string(seed_));
  }
  Backend& backend() { return *backends_[0]; }
  std::unique_ptr<Lane> MakeLane() {
    std::string error;
    std::unique_ptr<Lane> lane = backend().CreateLane(kSlots, kSlotBytes, &error);
    EXPECT_NE(lane, nullptr) << error;
    return lane;
  }

  const uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  Sample sample_{seed_};

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
  std::optional<::testing::ScopedTrace> trace_;
};

TEST_F(CudaLane, DescribesItsDevice) {
  const kernels::DeviceInfo& info = backend().info();
  EXPECT_EQ(info.label, "cuda:0");
  EXPECT_EQ(info.ordinal, 0);
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.memory_bytes, uint64_t{1} << 28);
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_GT(info.memory_bytes_per_second, 1e9);
  EXPECT_GT(info.copy_bytes_per_second, 1e8);
}

TEST_F(CudaLane, GivesTheBitsOfTheCpuForRandomChunks) {
  const std::unique_ptr<Lane> lane = MakeLane();
  for (const kernels::ElementType type : kernels::kAllElementTypes) {
    const uint64_t most = CappedCount((200 * kernels::kLeafBytes) / kernels::ElementSize(type));
    for (const Plan& plan : PlansOf(type, kernels::cuda::kComponentSets)) {
      if (!sample_.Takes()) continue;
      const Job job(plan, most - random_() % (most / 2 + 1), random_);
      EXPECT_EQ(StateDifference(plan, ThroughLane(*lane, job, random_), job.OnCpu()), "")
          << kernels::ElementTypeName(type) << ", components " << plan.components << ", "
          << job.count << " elements";
    }
  }
}

// Launches what `writer` staged of `jobs` and compares each job's state with the CPU's.
void ExpectBitsOfTheCpu(Lane* lane, const SlotWriter& writer, const Plan& plan,
                        const std::vector<Job>& jobs) {
  ASSERT_TRUE(lane->Launch(0, writer.used, plan, writer.tasks)) << lane->error();
  std::vector<State> states(jobs.size());
  Completion completion;
  ASSERT_TRUE(lane->Wait(0, states, &completion)) << lane->error();
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(StateDifference(plan, states[i], jobs[i].OnCpu()), "")
        << kernels::ElementTypeName(plan.type) << ", components " << plan.components << ", "
        << jobs[i].count << " elements, task " << i;
  }
}

TEST_F(CudaLane, ReducesManySmallArraysInOneLaunch) {
  const std::unique_ptr<Lane> lane = MakeLane();
  for (const kernels::ElementType type : kernels::kAllElementTypes) {
    for (const Plan& plan : PlansOf(type, kernels::cuda::kComponentSets)) {
      if (!sample_.Takes()) continue;
      std::vector<Job> jobs;
      SlotWriter writer{lane->slot(0), 0, {}};
      for (size_t i = 0; i < Lane::kMaxTasks; ++i) {
        const size_t bytes = i % 16 == 5 ? kernels::kLeafBytes + 2000 : 2000;
        if (writer.used + 2 * RoundUpToRow(bytes) > kSlotBytes) break;
        jobs.emplace_back(plan, random_() % (bytes / kernels::ElementSize(type)), random_);
        writer.Add(jobs.back(), 0, jobs.back().count);
      }
      ASSERT_LE(writer.used, kSlotBytes);
      ExpectBitsOfTheCpu(lane.get(), writer, plan, jobs);
    }
  }
}

TEST_F(CudaLane, FoldsArraysOfUnequalLengthInOneLaunch) {
  std::string error;
  const std::unique_ptr<Lane> lane = backend().CreateLane(1, 1024 * kernels::kLeafBytes, &error);
  ASSERT_NE(lane, nullptr) << error;
  for (const kernels::ElementType type :
       {kernels::ElementType::kFloat32, kernels::ElementType::kInt64}) {
    const uint64_t leaf = kernels::kLeafBytes / kernels::ElementSize(type);
    for (const Plan& plan : PlansOf(type, kernels::cuda::kComponentSets)) {
      if (!sample_.Takes()) continue;
      std::vector<Job> jobs;
      SlotWriter writer{lane->slot(0), 0, {}};
      // Nodes for one warp of the fold, for two and for three.
      for (const uint64_t leaves : {1, 2, 129, 1, 257}) {
        jobs.emplace_back(plan, CappedCount(leaves * leaf - 1), random_);
        writer.Add(jobs.back(), 0, jobs.back().count);
      }
      ExpectBitsOfTheCpu(lane.get(), writer, plan, jobs);
    }
  }
}

TEST_F(CudaLane, RunsAtomicPlansOfOneTaskAndOfMany) {
  const std::unique_ptr<Lane> lane = MakeLane();
  Plan plan;
  plan.type = kernels::ElementType::kInt32;
  plan.components = kernels::kSumComponent | kernels::kExtremaComponent;
  plan.algorithm = Algorithm::kAtomic;
  for (const size_t tasks : {size_t{1}, size_t{2}, size_t{7}}) {
    std::vector<Job> jobs;
    SlotWriter writer{lane->slot(0), 0, {}};
    for (size_t i = 0; i < tasks; ++i) {
      jobs.emplace_back(plan, CappedCount(10'000 + i * 5'001), random_);
      writer.Add(jobs.back(), 0, jobs.back().count);
    }
    ASSERT_TRUE(lane->Launch(0, writer.used, plan, writer.tasks)) << lane->error();
    std::vector<State> states(tasks);
    Completion completion;
    ASSERT_TRUE(lane->Wait(0, states, &completion)) << lane->error();
    EXPECT_EQ(completion.algorithm, Algorithm::kAtomic);
    for (size_t i = 0; i < tasks; ++i) {
      EXPECT_EQ(StateDifference(plan, states[i], jobs[i].OnCpu()), "") << i << " of " << tasks;
    }
  }
}

TEST_F(CudaLane, GivesTheSameBitsFromEightThreads) {
  constexpr size_t kLanes = 8;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (size_t i = 0; i < kLanes; ++i) lanes.push_back(MakeLane());
  const std::vector<Plan> plans =
      PlansOf(kernels::ElementType::kFloat32, kernels::cuda::kComponentSets);
  std::vector<std::string> differences(kLanes);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kLanes; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 random(seed_ + i);
      for (const Plan& plan : plans) {
        const Job job(plan, CappedCount(300'000 + i), random);
        differences[i] += StateDifference(plan, ThroughLane(*lanes[i], job, random), job.OnCpu());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& difference : differences) EXPECT_EQ(difference, "");
}

TEST_F(CudaLane, ReportsTimesOfTheSteadyClock) {
  const std::unique_ptr<Lane> lane = MakeLane();
  const Job job(Plan{}, 100'000, random_);
  SlotWriter writer{lane->slot(1), 0, {}};
  writer.Add(job, 0, job.count);
  const int64_t before = kernels::cuda::SteadyNow();
  ASSERT_TRUE(lane->Launch(1, writer.used, job.plan, writer.tasks));
  State state;
  Completion completion;
  ASSERT_TRUE(lane->Wait(1, std::span(&state, 1), &completion));
  const int64_t after = kernels::cuda::SteadyNow();
  // The zeros of the two clocks are years apart. How well they are matched depends on how busy the
  // machine is.
  constexpr int64_t kTolerance = 1'000'000'000;
  EXPECT_GE(completion.copy.begin_ns, before - kTolerance);
  EXPECT_LE(completion.copy.begin_ns, completion.copy.end_ns);
  EXPECT_LE(completion.copy.end_ns, completion.kernel.begin_ns);
  EXPECT_LE(completion.kernel.begin_ns, completion.kernel.end_ns);
  EXPECT_LE(completion.kernel.end_ns, after + kTolerance);
}

TEST_F(CudaLane, SaysWhatMemoryWasMissingAndGoesOn) {
  std::string error;
  EXPECT_EQ(backend().CreateLane(1, size_t{1} << 50, &error), nullptr);
  EXPECT_NE(error.find("cuda:0"), std::string::npos) << error;
  const std::unique_ptr<Lane> lane = MakeLane();
  const Job job(Plan{}, 5'000, random_);
  EXPECT_EQ(StateDifference(job.plan, ThroughLane(*lane, job, random_), job.OnCpu()), "");
}

TEST(CudaBackends, LeaveOutADeviceThatHasNoMemory) {
  using kernels::cuda::DeviceBuffer;
  int count = 0;
  if (!HasDevice() || cudaGetDeviceCount(&count) != cudaSuccess || count < 2) {
    GTEST_SKIP() << "fewer than two CUDA devices";
  }
  kernels::cuda::UseDevice(0);
  std::vector<DeviceBuffer> everything;
  for (size_t bytes = size_t{1} << 36; bytes >= size_t{1} << 20;) {
    try {
      everything.emplace_back(bytes);
    } catch (const kernels::cuda::CudaError&) {
      bytes /= 2;
    }
  }
  std::string reason;
  const auto backends = kernels::CreateCudaBackends(&reason);
  everything.clear();
  kernels::cuda::UseDevice(0);
  ASSERT_EQ(backends.size(), static_cast<size_t>(count - 1)) << reason;
  EXPECT_EQ(backends[0]->info().label, "cuda:1");
  EXPECT_NE(reason.find("cuda:0 cannot be used"), std::string::npos) << reason;
  EXPECT_EQ(kernels::CreateCudaBackends(&reason).size(), static_cast<size_t>(count));
  EXPECT_EQ(reason, "");
}

}  // namespace
}  // namespace reduction::testing
