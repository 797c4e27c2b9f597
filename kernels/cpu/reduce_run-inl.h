// Reduces a run of elements of type T. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_REDUCE_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_REDUCE_RUN_INL_H_
#undef REDUCTION_KERNELS_CPU_REDUCE_RUN_INL_H_
#else
#define REDUCTION_KERNELS_CPU_REDUCE_RUN_INL_H_
#endif

#include "kernels/cpu/array_run-inl.h"
#include "kernels/cpu/dot_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

template <class T>
HWY_INLINE State ReduceRun(const Run& run) {
  return run.components == kDotComponent ? DotRun<T>(run).Reduce() : ArrayRun<T>(run).Reduce();
}

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
