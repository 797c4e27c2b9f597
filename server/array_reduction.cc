#include "server/array_reduction.h"

#include <algorithm>

#include "server/lane_driver.h"

namespace reduction::server {

using kernels::kLeafBytes;

int64_t SteadyNanos() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void ArrayReduction::Consume(LaneDriver& driver, ByteQueue& x, ByteQueue& y, bool end) {
  const size_t capacity = spec_.is_dot() ? driver.slot_bytes() / 2 : driver.slot_bytes();
  const size_t capacity_leaves = capacity / kLeafBytes;
  while (!control_.dropped()) {
    const size_t available = end ? x.size() : x.size() - x.size() % kLeafBytes;
    if (available == 0) return;
    // Ending on a multiple of the capacity keeps most launches at one node.
    const size_t leaves_to_boundary = capacity_leaves - next_leaf_ % capacity_leaves;
    const size_t bytes = std::min(available, leaves_to_boundary * kLeafBytes);
    if (!driver.Stage(*this, x, y, bytes, next_leaf_)) return;
    next_leaf_ += kernels::LeafCount(bytes);
    elements_ += bytes / spec_.element_size();
  }
}

void ArrayReduction::CountLaunch(const kernels::Completion& completion) {
  algorithm_ = completion.algorithm;
  times_.copy_ns += completion.copy.end_ns - completion.copy.begin_ns;
  times_.kernel_ns += completion.kernel.end_ns - completion.kernel.begin_ns;
}

}  // namespace reduction::server
