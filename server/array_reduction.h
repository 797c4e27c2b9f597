// The reduction of one array, or of one part: from bytes in order to the state of the whole.
#pragma once

#include <chrono>
#include <cstdint>

#include "kernels/ordered_fold.h"
#include "server/byte_queue.h"
#include "server/call_control.h"
#include "server/metrics.h"
#include "server/reduction_spec.h"

namespace reduction::server {

class LaneDriver;

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

  // Stages the whole leaves at the front of x (and y), or all of them when the array ends there.
  // Returns early when nobody waits for the call any more, or when the device is lost.
  void Consume(LaneDriver& driver, ByteQueue& x, ByteQueue& y, bool end);

  // What staging and a finished launch tell, in the order of the leaves.
  void Deliver(const kernels::LeafRun& run, const kernels::State& state) { fold_.Push(run, state); }
  void CountLaunch(const kernels::Completion& completion);

  const ReductionSpec& spec() const { return spec_; }
  Source source() const { return source_; }
  uint64_t elements() const { return elements_; }
  const kernels::OrderedFold& fold() const { return fold_; }
  kernels::Algorithm algorithm() const { return algorithm_; }
  StageTimes& times() { return times_; }

 private:
  const ReductionSpec& spec_;
  const Source source_;
  const CallControl& control_;
  kernels::OrderedFold fold_;
  uint64_t next_leaf_;
  uint64_t elements_ = 0;
  kernels::Algorithm algorithm_ = kernels::Algorithm::kTwoPass;
  StageTimes times_;
};

}  // namespace reduction::server
