// Reductions of whole arrays in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.h"
#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

// Owns the workspace and the result slot of one reduction at a time. Not thread-safe. Throws
// CudaError.
class DeviceReducer {
 public:
  // Units that a launch may have; the workspace holds the node of each. 4 GiB at a leaf a unit.
  static constexpr uint32_t kMaxUnits = (1u << 18) + 1;

  // On the device `ordinal`, which becomes the thread's current device.
  explicit DeviceReducer(int ordinal);

  // Enqueues the reduction of `count` elements at x (and of the products with those at y for a dot
  // plan; else y is ignored) in memory of the device. x and y are aligned to the element; the
  // 16-byte blocks that hold their first and last elements must be readable. The elements are the
  // first of an array, or a run that starts on a leaf and whose first element has index
  // `first_index` in the array. At most 2^40 bytes. No result depends on `shape` and `variant` (of
  // the leaf pass); null takes the tuned ones. All reductions go to one stream.
  void Enqueue(const Plan& plan, const std::byte* x, const std::byte* y, uint64_t count,
               uint64_t first_index, CudaStreamView stream, const LaunchShape* shape = nullptr,
               const LeafKernel* variant = nullptr);

  // What the last Enqueue() ran.
  Algorithm algorithm() const { return algorithm_; }
  // The state, once the stream has been synchronised.
  State Result() const;

 private:
  DeviceTraits traits_;
  Workspace workspace_;
  DeviceBuffer result_;
  Algorithm algorithm_ = Algorithm::kTwoPass;
};

}  // namespace reduction::kernels::cuda
