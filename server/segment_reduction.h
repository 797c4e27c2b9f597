// From the nodes of an array's segments to their results.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/ordered_fold.h"
#include "server/admission.h"
#include "server/call_control.h"
#include "server/reduction_spec.h"
#include "server/segment_columns.h"
#include "server/segments.h"

namespace reduction::server {

// Used by one thread at a time.
class SegmentReduction {
 public:
  SegmentReduction(const ReductionSpec& spec, const Segments& segments, Admission& admission,
                   const CallControl& control)
      : control_(control),
        floating_(kernels::IsFloating(spec.plan.type)),
        staging_(segments),
        delivery_(segments),
        fold_(floating_),
        columns_(spec, admission, segments.count()) {}

  // Elements of the segment being staged that are still to come; 0 behind the last one.
  uint64_t NextRest() {
    while (!staging_.at_end() && staging_.rest() == 0) staging_.NextSegment();
    return staging_.rest();
  }
  // Its next `elements` elements were staged. Whether it ends there.
  bool Staged(uint64_t elements) {
    staging_.Advance(elements);
    return staging_.rest() == 0;
  }

  // The node of the next `count` elements, which are of one segment.
  void Deliver(const kernels::LeafRun& run, uint64_t count, const kernels::State& state) {
    AppendEmpty();
    if (refusal_) return;
    if (count == delivery_.length()) return Append(state);
    if (delivery_.at_start()) fold_ = kernels::OrderedFold(floating_);
    fold_.Push(run, state);
    delivery_.Advance(count);
    if (delivery_.rest() == 0) Append(fold_.Total());
  }

  // Everything was delivered.
  void Finish() { AppendEmpty(); }

  // Why the results cannot be kept, or are not wanted any more.
  const std::optional<Refusal>& refusal() const { return refusal_; }
  const SegmentColumns& columns() const { return columns_; }

 private:
  // Empty segments have no nodes. There may be millions of them.
  void AppendEmpty() {
    constexpr uint64_t kBetweenLooks = 1024;
    for (uint64_t i = 1; !refusal_ && !delivery_.at_end() && delivery_.rest() == 0; ++i) {
      Append(kernels::State{});
      if (i % kBetweenLooks == 0 && control_.dropped()) refusal_ = Dropped(control_);
    }
  }
  void Append(const kernels::State& state) {
    if (!refusal_) refusal_ = columns_.Append(state, delivery_.length());
    delivery_.NextSegment();
  }

  const CallControl& control_;
  const bool floating_;
  SegmentCursor staging_;
  SegmentCursor delivery_;
  kernels::OrderedFold fold_;
  SegmentColumns columns_;
  std::optional<Refusal> refusal_;
};

}  // namespace reduction::server
