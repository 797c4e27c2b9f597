// The tree over the leaves of a run. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_LEAF_FOLD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_LEAF_FOLD_INL_H_
#undef REDUCTION_KERNELS_CPU_LEAF_FOLD_INL_H_
#else
#define REDUCTION_KERNELS_CPU_LEAF_FOLD_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>

#include "kernels/fixed_order.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

// The node of `leaves` >= 1 leaves of `run`: what the binary counter makes of them, by recursion.
// run->ReduceLeaf(i) gives the state of leaf i; it is called once a leaf, from left to right.
template <bool kFloating, Components kComponents, class AnyRun>
State FoldLeaves(AnyRun* run, uint64_t first, uint64_t leaves) {
  if (leaves == 1) return run->ReduceLeaf(first);
  const uint64_t left = std::bit_floor(leaves - 1);
  const State a = FoldLeaves<kFloating, kComponents>(run, first, left);
  const State b = FoldLeaves<kFloating, kComponents>(run, first + left, leaves - left);
  return Combine<kFloating, kComponents>(a, b);
}

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
