// Reductions of many segments of an array in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/segment_args.h"
#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

// Owns the workspace of one segmented reduction at a time and the results of the last one. Not
// thread-safe. Throws CudaError.
class SegmentReducer {
 public:
  // The longest array: 4 GiB.
  static constexpr uint64_t kMaxBytes = kLeafBytes << kMaxChunkLevel;
  // Of one reduction; their results stay in memory of the device.
  static constexpr uint64_t kMaxSegments = 16'777'216;

  // On the device `ordinal`, which becomes the thread's current device. `max_segments`: of a
  // reduction, at most kMaxSegments.
  SegmentReducer(int ordinal, uint64_t max_segments);

  // Enqueues the reduction of each segment of the `count` elements at x, as DeviceReducer does it
  // of whole arrays: a segment has the bits that it would have as an array of its own, and
  // positions count from its first element. Offsets begin with 0, do not decrease and end with
  // `count`; equal segments divide `count`. The plan is of one array and algorithm kTwoPass runs.
  // All reductions go to one stream.
  void Enqueue(const Plan& plan, const std::byte* x, uint64_t count, const SegmentLayout& layout,
               CudaStreamView stream);

  // The states of the segments, once the stream has been synchronised.
  std::vector<State> Results() const;

 private:
  DeviceTraits traits_;
  DeviceBuffer first_segment_;
  DeviceBuffer nodes_;
  DeviceBuffer list_sizes_;
  DeviceBuffer groups_;
  DeviceBuffer parted_;
  DeviceBuffer results_;
  Components set_ = kSumSet;
  bool floating_ = true;
  uint64_t segments_ = 0;
};

}  // namespace reduction::kernels::cuda
