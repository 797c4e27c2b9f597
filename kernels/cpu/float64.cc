#include "kernels/cpu/run.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/float64.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/reduce_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

State ReduceFloat64Run(const Run& run) { return ReduceRun<double>(run); }

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reduction::kernels {

HWY_EXPORT(ReduceFloat64Run);
State ReduceFloat64(const Run& run) { return HWY_DYNAMIC_DISPATCH(ReduceFloat64Run)(run); }

}  // namespace reduction::kernels
#endif
