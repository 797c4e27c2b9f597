// Which kernel serves a plan. Addresses are for cudaLaunchKernelExC; both kernels take one
// PassArgs.
#pragma once

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/pass_args.h"

namespace reduction::kernels::cuda {

// `set` is one of kComponentSets; `realign`: a dot whose arrays lie differently to 16 bytes.
template <class T>
const void* LeafPassOf(Components set, NanPolicy nan_policy, bool realign);

const void* LeafPassKernel(ElementType type, Components set, NanPolicy nan_policy, bool realign);

// The fold pass of Finish::kFoldPass: kFoldThreads threads, a block a task, or for one task a block
// for every kFoldNodes units.
const void* FoldPassKernel(bool floating, Components set);

}  // namespace reduction::kernels::cuda
