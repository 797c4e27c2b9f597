#include "server/lane_driver.h"

#include <algorithm>

#include "server/array_reduction.h"

namespace reduction::server {
namespace {

using kernels::kRowBytes;

size_t RoundUpToRow(size_t bytes) { return (bytes + kRowBytes - 1) / kRowBytes * kRowBytes; }

}  // namespace

LaneDriver::LaneDriver(kernels::Lane& lane, DeviceMetrics& metrics)
    : lane_(lane), metrics_(metrics), slots_(lane.slot_count()) {}

bool LaneDriver::Stage(ArrayReduction& owner, ByteQueue& x, ByteQueue& y, size_t bytes,
                       uint64_t first_leaf) {
  const ReductionSpec& spec = owner.spec();
  const size_t array_stride = RoundUpToRow(bytes);
  const size_t needed = spec.is_dot() ? 2 * array_stride : array_stride;
  // A range of up to 2^k leaves has at most 2k + 2 runs.
  constexpr size_t kMaxRuns = 32;
  if (!tasks_.empty() &&
      (plan_ != spec.plan || used_ + needed > lane_.slot_bytes() ||
       tasks_.size() + kMaxRuns > kernels::Lane::kMaxTasks) &&
      !Launch()) {
    return false;
  }
  Slot& slot = slots_[current_];
  if (slot.outstanding && !Wait(current_)) return false;
  plan_ = spec.plan;

  const int64_t begin_ns = SteadyNanos();
  std::byte* const to = lane_.slot(current_) + used_;
  x.Pop(to, bytes);
  if (spec.is_dot()) y.Pop(to + array_stride, bytes);
  const int64_t end_ns = SteadyNanos();
  if (lane_.copies_to_device()) {
    owner.times().receive_ns += end_ns - begin_ns;
  } else {
    owner.times().copy_ns += end_ns - begin_ns;
    metrics_.AddBusy(Link::kCopy, {begin_ns, end_ns});
  }

  const size_t element_size = spec.element_size();
  const uint64_t leaf_elements = kernels::kLeafBytes / element_size;
  const uint64_t elements = bytes / element_size;
  const uint64_t end_leaf = first_leaf + kernels::LeafCount(bytes);
  uint64_t done = 0;
  for (uint64_t leaf = first_leaf; leaf < end_leaf;) {
    const kernels::LeafRun run = kernels::NextRun(leaf, end_leaf);
    const uint64_t count = std::min(elements - done, leaf_elements << run.level);
    const size_t offset = used_ + done * element_size;
    tasks_.push_back({offset, offset + array_stride, count, leaf * leaf_elements});
    slot.nodes.push_back({&owner, run, count});
    done += count;
    leaf += uint64_t{1} << run.level;
  }
  used_ += needed;
  ++slot.arrays;
  return true;
}

bool LaneDriver::Launch() {
  Slot& slot = slots_[current_];
  if (lost_ || !lane_.Launch(current_, used_, plan_, tasks_)) {
    lost_ = true;
    return false;
  }
  slot.outstanding = true;
  metrics_.staging_slots_in_use->Increment();
  if (slot.nodes.front().owner->source() == Source::kInline) {
    metrics_.batch_size->Observe(static_cast<double>(slot.arrays));
  }
  tasks_.clear();
  used_ = 0;
  current_ = (current_ + 1) % slots_.size();
  return true;
}

bool LaneDriver::Wait(size_t index) {
  Slot& slot = slots_[index];
  kernels::Completion completion;
  states_.resize(slot.nodes.size());
  if (lost_ || !lane_.Wait(index, states_, &completion)) {
    lost_ = true;
    return false;
  }
  slot.outstanding = false;
  metrics_.staging_slots_in_use->Decrement();
  metrics_.AddBusy(Link::kCopy, completion.copy);
  metrics_.AddBusy(Link::kKernel, completion.kernel);
  ArrayReduction* previous = nullptr;
  for (size_t i = 0; i < slot.nodes.size(); ++i) {
    const Node& node = slot.nodes[i];
    node.owner->Deliver(node.run, states_[i]);
    const ReductionSpec& spec = node.owner->spec();
    const uint64_t bytes = node.count * spec.element_size() * (spec.is_dot() ? 2 : 1);
    metrics_.CountReduced(spec, node.owner->source(), bytes, node.count);
    if (node.owner != previous) node.owner->CountLaunch(completion);
    previous = node.owner;
  }
  slot.nodes.clear();
  slot.arrays = 0;
  return true;
}

bool LaneDriver::Drain() {
  if (!tasks_.empty() && !Launch()) return false;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const size_t index = (current_ + i) % slots_.size();  // oldest first
    if (slots_[index].outstanding && !Wait(index)) return false;
  }
  return true;
}

}  // namespace reduction::server
