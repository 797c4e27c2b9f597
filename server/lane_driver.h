// Fills the staging slots of one lane and keeps several launches in flight.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "server/byte_queue.h"
#include "server/metrics.h"

namespace reduction::server {

class ArrayReduction;

// Consecutive bytes of an array: leaves of a tree from `first_leaf` on.
struct Piece {
  uint64_t bytes;
  uint64_t first_leaf;
};

// Used by the one thread that drives the lane.
class LaneDriver {
 public:
  LaneDriver(kernels::Lane& lane, DeviceMetrics& metrics);

  size_t slot_bytes() const { return lane_.slot_bytes(); }

  // Copies the next `pieces` of x (and of y for a dot) into staging, for `owner`, which learns of
  // their nodes through ArrayReduction::Deliver, in order, at the latest in Drain(). Pieces with
  // one plan, whosever they are, share a launch while they fit in a slot. The bytes of a piece,
  // times the arrays, are at most slot_bytes(). False when the device is lost.
  bool Stage(ArrayReduction& owner, ByteQueue& x, ByteQueue& y, std::span<const Piece> pieces);

  // Launches what is staged and waits for every launch. False when the device is lost.
  bool Drain();

  bool lost() const { return lost_; }
  const std::string& error() const { return lane_.error(); }

 private:
  struct Node {
    ArrayReduction* owner;
    kernels::LeafRun run;
    uint64_t count;
  };
  struct Slot {
    std::vector<Node> nodes;  // of the launch outstanding, or of what is being staged
    bool outstanding = false;
    uint64_t arrays = 0;
  };

  bool Fits(const ReductionSpec& spec, const Piece& piece) const;
  void Copy(ArrayReduction& owner, ByteQueue& x, ByteQueue& y, const Piece& piece);
  bool Launch();
  bool Wait(size_t slot);
  // Keeps an interval for the metrics, which take a lock, until there are many or the lane drains.
  void KeepBusy(Link link, const kernels::Interval& interval);
  void ReportBusy(Link link);

  kernels::Lane& lane_;
  DeviceMetrics& metrics_;
  std::vector<Slot> slots_;
  size_t current_ = 0;  // the slot being staged
  size_t used_ = 0;     // bytes staged in it
  kernels::Plan plan_;
  std::vector<kernels::Task> tasks_;
  std::vector<kernels::State> states_;
  bool lost_ = false;
  std::array<std::vector<kernels::Interval>, kLinkCount> busy_;  // not yet reported
};

}  // namespace reduction::server
