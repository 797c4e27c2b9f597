// Which kernels serve a segmented plan. All take a SegmentArgs; all but the pass also the elements
// of a leaf.
#pragma once

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/segment_args.h"

namespace reduction::kernels::cuda {

// The sets that the kernels are compiled for.
inline constexpr Components kSegmentSets[] = {kSumSet, kExtremaSet, kAllSet};

constexpr Components SegmentSet(Components components) {
  for (const Components set : kSegmentSets) {
    if ((components & ~set) == 0) return set;
  }
  return kAllSet;
}

// A block of LeafPassThreads() a window; `set` is one of kSegmentSets, `length` that of equal
// segments, or 0.
template <class T>
const void* SegmentPassOf(Components set, NanPolicy nan_policy, uint64_t length);
const void* SegmentPassKernel(ElementType type, Components set, NanPolicy nan_policy,
                              uint64_t length);

// Before the pass: a thread a window.
const void* FindFirstSegmentsKernel();

// After it, blocks of kFoldThreads that take turns with what is on the lists.
struct SegmentFolds {
  const void* groups;
  const void* segments;
};
SegmentFolds SegmentFoldKernels(bool floating, Components set);

}  // namespace reduction::kernels::cuda
