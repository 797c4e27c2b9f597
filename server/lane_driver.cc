#include "server/lane_driver.h"

#include <algorithm>

#include "server/array_reduction.h"

namespace reduction::server {
namespace {

using kernels::kRowBytes;

// Intervals of a link that are reported together.
constexpr size_t kMostBusyIntervals = 64;

size_t RoundUpToRow(size_t bytes) { return (bytes + kRowBytes - 1) / kRowBytes * kRowBytes; }

size_t SlotBytesFor(const ReductionSpec& spec, const Piece& piece) {
  return RoundUpToRow(piece.bytes) * (spec.is_dot() ? 2 : 1);
}

}  // namespace

LaneDriver::LaneDriver(kernels::Lane& lane, DeviceMetrics& metrics)
    : lane_(lane), metrics_(metrics), slots_(lane.slot_count()) {
  for (auto& intervals : busy_) intervals.reserve(kMostBusyIntervals);
}

bool LaneDriver::Fits(const ReductionSpec& spec, const Piece& piece) const {
  // A range of up to 2^k leaves has at most 2k + 2 runs.
  constexpr size_t kMaxRuns = 32;
  const size_t runs = piece.bytes <= kernels::kLeafBytes ? 1 : kMaxRuns;
  return used_ + SlotBytesFor(spec, piece) <= lane_.slot_bytes() &&
         tasks_.size() + runs <= kernels::Lane::kMaxTasks;
}

bool LaneDriver::Stage(ArrayReduction& owner, ByteQueue& x, ByteQueue& y,
                       std::span<const Piece> pieces) {
  const ReductionSpec& spec = owner.spec();
  while (!pieces.empty()) {
    if (!tasks_.empty() && (plan_ != spec.plan || !Fits(spec, pieces.front())) && !Launch()) {
      return false;
    }
    Slot& slot = slots_[current_];
    if (slot.outstanding && !Wait(current_)) return false;
    plan_ = spec.plan;
    if (slot.nodes.empty() || slot.nodes.back().owner != &owner) ++slot.arrays;

    const int64_t begin_ns = SteadyNanos();
    do {
      Copy(owner, x, y, pieces.front());
      pieces = pieces.subspan(1);
    } while (!pieces.empty() && Fits(spec, pieces.front()));
    const int64_t end_ns = SteadyNanos();
    if (lane_.copies_to_device()) {
      owner.times().receive_ns += end_ns - begin_ns;
    } else {
      owner.times().copy_ns += end_ns - begin_ns;
      KeepBusy(Link::kCopy, {begin_ns, end_ns});
    }
  }
  return true;
}

void LaneDriver::Copy(ArrayReduction& owner, ByteQueue& x, ByteQueue& y, const Piece& piece) {
  const ReductionSpec& spec = owner.spec();
  const size_t array_stride = RoundUpToRow(piece.bytes);
  std::byte* const to = lane_.slot(current_) + used_;
  x.Pop(to, piece.bytes);
  if (spec.is_dot()) y.Pop(to + array_stride, piece.bytes);

  const size_t element_size = spec.element_size();
  const uint64_t leaf_elements = kernels::kLeafBytes / element_size;
  const uint64_t elements = piece.bytes / element_size;
  const uint64_t end_leaf = piece.first_leaf + kernels::LeafCount(piece.bytes);
  uint64_t done = 0;
  for (uint64_t leaf = piece.first_leaf; leaf < end_leaf;) {
    const kernels::LeafRun run = kernels::NextRun(leaf, end_leaf);
    const uint64_t count = std::min(elements - done, leaf_elements << run.level);
    const size_t offset = used_ + done * element_size;
    tasks_.push_back({offset, offset + array_stride, count, leaf * leaf_elements});
    slots_[current_].nodes.push_back({&owner, run, count});
    done += count;
    leaf += uint64_t{1} << run.level;
  }
  used_ += SlotBytesFor(spec, piece);
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
  KeepBusy(Link::kCopy, completion.copy);
  KeepBusy(Link::kKernel, completion.kernel);
  for (size_t i = 0; i < slot.nodes.size();) {
    ArrayReduction& owner = *slot.nodes[i].owner;
    uint64_t elements = 0;
    for (; i < slot.nodes.size() && slot.nodes[i].owner == &owner; ++i) {
      owner.Deliver(slot.nodes[i].run, slot.nodes[i].count, states_[i]);
      elements += slot.nodes[i].count;
    }
    const ReductionSpec& spec = owner.spec();
    const uint64_t bytes = elements * spec.element_size() * (spec.is_dot() ? 2 : 1);
    metrics_.CountReduced(spec, owner.source(), bytes, elements);
    owner.CountLaunch(completion);
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
  ReportBusy(Link::kCopy);
  ReportBusy(Link::kKernel);
  return true;
}

void LaneDriver::KeepBusy(Link link, const kernels::Interval& interval) {
  auto& intervals = busy_[static_cast<size_t>(link)];
  intervals.push_back(interval);
  if (intervals.size() == kMostBusyIntervals) ReportBusy(link);
}

void LaneDriver::ReportBusy(Link link) {
  auto& intervals = busy_[static_cast<size_t>(link)];
  metrics_.AddBusy(link, intervals);
  intervals.clear();
}

}  // namespace reduction::server
