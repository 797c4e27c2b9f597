#include "kernels/cpu/run.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/int16.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

State ReduceInt16Run(const Run& run) { return ReduceRun<int16_t>(run); }
State ReduceUint16Run(const Run& run) { return ReduceRun<uint16_t>(run); }

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reduction::kernels {

HWY_EXPORT(ReduceInt16Run);
State ReduceInt16(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceInt16Run)(run); }

HWY_EXPORT(ReduceUint16Run);
State ReduceUint16(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceUint16Run)(run); }

}  // namespace reduction::kernels
#endif
