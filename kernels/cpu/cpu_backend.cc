#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/cpu_info.h"
#include "kernels/cpu/cpu_reduce.h"

namespace reduction::kernels {
namespace {

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

// Launch computes at once on the calling thread.
class CpuLane final : public Lane {
 public:
  CpuLane(Memory memory, size_t slot_count, size_t slot_bytes)
      : memory_(std::move(memory)), slot_bytes_(slot_bytes), results_(slot_count) {
    for (Result& result : results_) result.states.reserve(kMaxTasks);
  }

  size_t slot_count() const override { return results_.size(); }
  size_t slot_bytes() const override { return slot_bytes_; }
  std::byte* slot(size_t index) override { return memory_.get() + index * slot_bytes_; }

  bool copies_to_device() const override { return false; }

  bool Launch(size_t slot_index, size_t /*used_bytes*/, const Plan& plan,
              std::span<const Task> tasks) override {
    const std::byte* const bytes = slot(slot_index);
    Result& result = results_[slot_index];
    result.states.clear();
    result.kernel.begin_ns = NowNanos();
    for (const Task& task : tasks) {
      result.states.push_back(ReduceOnCpu(plan, bytes + task.x_offset, bytes + task.y_offset,
                                          task.count, task.first_index));
    }
    result.kernel.end_ns = NowNanos();
    return true;
  }

  bool Wait(size_t slot_index, std::span<State> states, Completion* completion) override {
    const Result& result = results_[slot_index];
    std::copy_n(result.states.begin(), std::min(states.size(), result.states.size()),
                states.begin());
    *completion = Completion{{}, result.kernel, Algorithm::kTwoPass};
    return true;
  }

  const std::string& error() const override { return error_; }

 private:
  struct Result {
    std::vector<State> states;
    Interval kernel;
  };

  Memory memory_;
  size_t slot_bytes_;
  std::vector<Result> results_;
  std::string error_;
};

class CpuBackend final : public Backend {
 public:
  CpuBackend() : info_(DescribeCpu()) {}

  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Lane> CreateLane(size_t slot_count, size_t slot_bytes,
                                   std::string* error) override {
    const size_t bytes = slot_count * slot_bytes;
    Memory memory(static_cast<std::byte*>(std::aligned_alloc(kRowBytes, bytes)));
    if (memory == nullptr) {
      *error = "the CPU has no " + std::to_string(bytes) + " bytes of memory left for a lane of " +
               std::to_string(slot_count) + " staging slots";
      return nullptr;
    }
    std::memset(memory.get(), 0, bytes);  // no page faults on the request path
    return std::make_unique<CpuLane>(std::move(memory), slot_count, slot_bytes);
  }

 private:
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Backend> CreateCpuBackend() { return std::make_unique<CpuBackend>(); }

}  // namespace reduction::kernels
