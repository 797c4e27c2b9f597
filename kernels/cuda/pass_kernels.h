// Which kernel serves a plan. All kernels take one PassArgs.
#pragma once

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/pass_args.h"

namespace reduction::kernels::cuda {

// A pointer for cudaLaunchKernelExC; `set` is one of kComponentSets.
template <class T>
const void* LeafPassOf(Components set, NanPolicy nan_policy);
const void* LeafPassKernel(ElementType type, Components set, NanPolicy nan_policy);
// The same for runs of leaves, of kSumSet.
template <class T>
const void* RunPassOf(NanPolicy nan_policy);
const void* RunPassKernel(ElementType type, NanPolicy nan_policy);
// The same for Algorithm ATOMIC; it serves `components`.
template <class T>
const void* AtomicPassOf(Components components, NanPolicy nan_policy);
const void* AtomicPassKernel(ElementType type, Components components, NanPolicy nan_policy);

// The threads of their blocks: one a word of a row.
inline uint32_t LeafPassThreads(ElementType type) { return ElementSize(type) == 8 ? 64 : 128; }

// The fold pass of Finish::kFoldPass: a block a task, or for one task a block for as many nodes as
// FoldPassThreads(set) threads fold. Blocks are whole warps, and at least as many threads as the
// nodes of any of them take; a thread folds kFoldNodesPerThread.
const void* FoldPassKernel(bool floating, Components set);

}  // namespace reduction::kernels::cuda
