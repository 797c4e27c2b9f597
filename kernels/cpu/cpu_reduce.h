// Reductions of host memory on the CPU, in the fixed order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fixed_order.h"

namespace reduction::kernels {

// State of `count` elements at `x` (and of the products with those at `y` for a dot plan; else y is
// ignored). Any byte alignment. The elements are the first of an array, or a run that starts on a
// leaf and whose first element has index `first_index` in the array. One thread; the algorithm of
// the plan does not matter. Restores the caller's floating-point environment.
State ReduceOnCpu(const Plan& plan, const std::byte* x, const std::byte* y, uint64_t count,
                  uint64_t first_index = 0);

// The same bits with `threads` threads.
State ReduceOnCpuParallel(const Plan& plan, const std::byte* x, const std::byte* y, uint64_t count,
                          unsigned threads);

}  // namespace reduction::kernels
