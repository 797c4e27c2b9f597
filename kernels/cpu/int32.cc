#include "kernels/cpu/run.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/int32.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

State ReduceInt32Run(const Run& run) { return ReduceRun<int32_t>(run); }
State ReduceUint32Run(const Run& run) { return ReduceRun<uint32_t>(run); }

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reduction::kernels {

HWY_EXPORT(ReduceInt32Run);
State ReduceInt32(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceInt32Run)(run); }

HWY_EXPORT(ReduceUint32Run);
State ReduceUint32(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceUint32Run)(run); }

}  // namespace reduction::kernels
#endif
