#include "kernels/cuda/cuda_lane.h"

#include <algorithm>
#include <cstring>

namespace reduction::kernels::cuda {
namespace {

// A small launch is done within this time: until then waiting costs less than sleeping.
constexpr int64_t kSpinNs = 50'000;

uint32_t LeavesOf(const Task& task, size_t element_size) {
  return static_cast<uint32_t>(std::max<uint64_t>(LeafCount(task.count * element_size), 1));
}

}  // namespace

CudaLane::Slot::Slot(size_t slot_bytes)
    : host(kHeaderBytes + slot_bytes), device(kHeaderBytes + slot_bytes), results(kMaxTasks) {}

CudaLane::CudaLane(const DeviceTraits& traits, DeviceClock* clock, size_t slot_count,
                   size_t slot_bytes)
    : traits_(traits),
      clock_(clock),
      slot_bytes_(slot_bytes),
      workspace_(static_cast<uint32_t>(LeafCount(slot_bytes)) + kMaxTasks, kMaxTasks) {
  slots_.reserve(slot_count);
  for (size_t i = 0; i < slot_count; ++i) slots_.emplace_back(slot_bytes);
}

CudaLane::~CudaLane() {
  // Nothing may still use the memory that goes; an error here has been reported or does not matter.
  cudaSetDevice(traits_.ordinal);
  cudaStreamSynchronize(stream_.view().get());
  cudaGetLastError();
}

bool CudaLane::Launch(size_t slot, size_t used_bytes, const Plan& plan,
                      std::span<const Task> tasks) {
  if (lost_) return false;
  try {
    Enqueue(slots_[slot], used_bytes, plan, tasks);
    return true;
  } catch (const CudaError& error) {
    return Lose(error);
  }
}

void CudaLane::Enqueue(Slot& slot, size_t used_bytes, const Plan& plan,
                       std::span<const Task> tasks) {
  UseDevice(traits_.ordinal);
  slot.epoch = clock_->Now();
  const bool atomic = plan.algorithm == Algorithm::kAtomic && AtomicServes(plan.components);
  slot.algorithm = atomic ? Algorithm::kAtomic : Algorithm::kTwoPass;

  const size_t element_size = ElementSize(plan.type);
  const std::byte* const data = slot.device.data() + kHeaderBytes;
  const bool table = tasks.size() > 1;
  const size_t table_bytes = table ? tasks.size() * sizeof(LeafTask) : 0;
  std::byte* const host_begin = slot.host.data() + kHeaderBytes - table_bytes;
  std::byte* const device_begin = slot.device.data() + kHeaderBytes - table_bytes;

  PassArgs args;
  args.unit_count = 0;
  args.task_count = static_cast<uint32_t>(tasks.size());
  args.results = slot.results.device_data();
  uint32_t most_nodes = 1;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    LeafTask entry;
    entry.x = data + task.x_offset;
    entry.y = data + task.y_offset;
    entry.count = task.count;
    entry.first_index = task.first_index;
    entry.first_unit = args.unit_count;
    entry.units = LeavesOf(task, element_size);
    args.unit_count += entry.units;
    most_nodes = std::max(most_nodes, entry.units);
    if (table) {
      std::memcpy(host_begin + i * sizeof(LeafTask), &entry, sizeof(LeafTask));
    } else {
      args.single = entry;
    }
  }
  if (table) args.tasks = reinterpret_cast<const LeafTask*>(device_begin);
  workspace_.Bind(&args);

  slot.begin.view().Record(stream_.view());
  if (table_bytes + used_bytes != 0) {
    Check(cudaMemcpyAsync(device_begin, host_begin, table_bytes + used_bytes,
                          cudaMemcpyHostToDevice, stream_.view().get()));
  }
  slot.copied.view().Record(stream_.view());
  args.node_count = args.unit_count;
  if (atomic) {
    LaunchAtomicPass(plan, args, stream_.view());
  } else {
    LaunchPasses(traits_, plan, most_nodes, args, stream_.view());
  }
  slot.end.view().Record(stream_.view());
}

bool CudaLane::Wait(size_t slot, std::span<State> states, Completion* completion) {
  if (lost_) return false;
  try {
    UseDevice(traits_.ordinal);
    Slot& s = slots_[slot];
    const int64_t sleep_at = SteadyNow() + kSpinNs;
    while (!s.end.view().IsDone()) {
      if (SteadyNow() < sleep_at) continue;
      s.end.view().Synchronize();
    }
    std::copy_n(s.results.view().begin(), states.size(), states.begin());
    completion->algorithm = s.algorithm;
    completion->copy.begin_ns = s.epoch->SteadyNanoseconds(s.begin.view());
    completion->copy.end_ns = s.epoch->SteadyNanoseconds(s.copied.view());
    completion->kernel.begin_ns = completion->copy.end_ns;
    completion->kernel.end_ns = s.epoch->SteadyNanoseconds(s.end.view());
    return true;
  } catch (const CudaError& error) {
    return Lose(error);
  }
}

bool CudaLane::Lose(const CudaError& error) {
  lost_ = true;
  error_ = "cuda:" + std::to_string(traits_.ordinal) + " is lost: " + error.what();
  return false;
}

}  // namespace reduction::kernels::cuda
