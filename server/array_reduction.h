// The reduction of one array, of one part, or of the segments of an array: from bytes in order to
// the state of the whole or the results of each segment.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/ordered_fold.h"
#include "server/byte_queue.h"
#include "server/call_control.h"
#include "server/lane_driver.h"
#include "server/metrics.h"
#include "server/reduction_spec.h"
#include "server/segment_reduction.h"

namespace reduction::server {

int64_t SteadyNanos();

// Where the time of a call went; stages of one call can overlap.
struct StageTimes {
  int64_t queue_ns = 0;
  int64_t receive_ns = 0;
  int64_t copy_ns = 0;
  int64_t kernel_ns = 0;
};

// Used by one thread at a time.
class ArrayReduction {
 public:
  ArrayReduction(const ReductionSpec& spec, Source source, const CallControl& control)
      : spec_(spec),
        source_(source),
        control_(control),
        fold_(kernels::IsFloating(spec.plan.type), spec.first_leaf()),
        next_leaf_(spec.first_leaf()) {}

  // Before anything is staged: every segment is reduced on its own. `segments` are closed.
  void Divide(const Segments& segments, Admission& admission) {
    segments_.emplace(spec_, segments, admission, control_);
  }

  // Stages the whole leaves and segments at the front of x (and y), or all of them when the array
  // ends there. Returns early when nobody waits for the call any more, when the device is lost, or
  // when there is no room for the results of segments.
  void Consume(LaneDriver& driver, ByteQueue& x, ByteQueue& y, bool end);

  // What staging and a finished launch tell, in the order of the leaves.
  void Deliver(const kernels::LeafRun& run, uint64_t count, const kernels::State& state) {
    if (segments_) {
      segments_->Deliver(run, count, state);
    } else {
      fold_.Push(run, state);
    }
  }
  void CountLaunch(const kernels::Completion& completion);

  const ReductionSpec& spec() const { return spec_; }
  Source source() const { return source_; }
  uint64_t elements() const { return elements_; }
  const kernels::OrderedFold& fold() const { return fold_; }
  // Null for an undivided array.
  SegmentReduction* segments() { return segments_ ? &*segments_ : nullptr; }
  kernels::Algorithm algorithm() const { return algorithm_; }
  StageTimes& times() { return times_; }

 private:
  // What to stage next of `available` bytes; none when more has to come first.
  std::optional<Piece> NextPiece(uint64_t available, bool end, size_t capacity);

  const ReductionSpec& spec_;
  const Source source_;
  const CallControl& control_;
  kernels::OrderedFold fold_;
  std::optional<SegmentReduction> segments_;
  std::vector<Piece> pieces_;
  uint64_t next_leaf_;  // of the array or of the segment being staged
  uint64_t elements_ = 0;
  kernels::Algorithm algorithm_ = kernels::Algorithm::kTwoPass;
  StageTimes times_;
};

}  // namespace reduction::server
