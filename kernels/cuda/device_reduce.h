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
  // On the device `ordinal`, which becomes the thread's current device.
  explicit DeviceReducer(int ordinal);

  // Enqueues the reduction of `count` elements at x (and of the products with those at y for a dot
  // plan; else y is ignored) in memory of the device. x and y are aligned to the element; the
  // aligned 4-byte blocks that hold their first and last elements must be readable. The elements
  // are the first of an array, or a run that starts on a leaf and whose first element has index
  // `first_index` in the array. At most 2^40 bytes. No result depends on `shape`; null takes the
  // tuned one. All reductions go to one stream.
  void Enqueue(const Plan& plan, const std::byte* x, const std::byte* y, uint64_t count,
               uint64_t first_index, CudaStreamView stream, const LaunchShape* shape = nullptr);

  // What the last Enqueue() ran.
  Algorithm algorithm() const { return algorithm_; }
  // The state, once the stream has been synchronised.
  State Result() const;

 private:
  void EnqueueAtomic(const Plan& plan, PassArgs args, uint32_t unit_leaves, CudaStreamView stream);

  DeviceTraits traits_;
  Workspace workspace_;
  DeviceBuffer results_;  // one a chunk
  bool floating_ = true;
  uint64_t chunks_ = 1;
  uint32_t chunk_level_ = kMaxChunkLevel;
  Algorithm algorithm_ = Algorithm::kTwoPass;
};

}  // namespace reduction::kernels::cuda
