// Which kernel serves a plan. Both kernels take one PassArgs.
#pragma once

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/pass_args.h"

namespace reduction::kernels::cuda {

struct LeafKernel {
  const void* address;  // for cudaLaunchKernelExC
  // Dynamic shared memory that a warp needs.
  uint32_t ring_bytes;
  uint32_t level_bytes;  // for each level of its run

  constexpr uint32_t WarpBytes(uint32_t run_level) const {
    return (ring_bytes + level_bytes * (run_level + 1) + 15) / 16 * 16;
  }
};

// `set` is one of kComponentSets; `realign`: a dot whose arrays lie differently to 16 bytes.
template <class T>
LeafKernel LeafPassOf(Components set, NanPolicy nan_policy, bool realign);

LeafKernel LeafPassKernel(ElementType type, Components set, NanPolicy nan_policy, bool realign);

// The leaf pass of kSumSet with a block of kBlockLeafThreads threads a leaf, units of one leaf and
// no dynamic shared memory; null for elements of less than 4 bytes.
inline constexpr uint32_t kBlockLeafThreads = 128;
const void* BlockLeafPassKernel(ElementType type, NanPolicy nan_policy);

// The fold pass of Finish::kFoldPass: kFoldThreads threads, a block a task, or for one task a block
// for every kFoldNodes units.
const void* FoldPassKernel(bool floating, Components set);

}  // namespace reduction::kernels::cuda
