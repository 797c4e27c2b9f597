#include "kernels/cpu/run.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/int64.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

State ReduceInt64Run(const Run& run) { return ReduceRun<int64_t>(run); }
State ReduceUint64Run(const Run& run) { return ReduceRun<uint64_t>(run); }

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reduction::kernels {

HWY_EXPORT(ReduceInt64Run);
State ReduceInt64(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceInt64Run)(run); }

HWY_EXPORT(ReduceUint64Run);
State ReduceUint64(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceUint64Run)(run); }

}  // namespace reduction::kernels
#endif
