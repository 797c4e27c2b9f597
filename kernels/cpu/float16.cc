#include "kernels/cpu/run.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/float16.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

State ReduceFloat16Run(const Run& run) { return ReduceRun<Float16>(run); }
State ReduceBfloat16Run(const Run& run) { return ReduceRun<Bfloat16>(run); }

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reduction::kernels {

HWY_EXPORT(ReduceFloat16Run);
State ReduceFloat16(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceFloat16Run)(run); }

HWY_EXPORT(ReduceBfloat16Run);
State ReduceBfloat16(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceBfloat16Run)(run); }

}  // namespace reduction::kernels
#endif
