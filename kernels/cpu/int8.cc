#include "kernels/cpu/run.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/int8.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

State ReduceInt8Run(const Run& run) { return ReduceRun<int8_t>(run); }
State ReduceUint8Run(const Run& run) { return ReduceRun<uint8_t>(run); }

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reduction::kernels {

HWY_EXPORT(ReduceInt8Run);
State ReduceInt8(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceInt8Run)(run); }

HWY_EXPORT(ReduceUint8Run);
State ReduceUint8(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceUint8Run)(run); }

}  // namespace reduction::kernels
#endif
