// One run of leaves on one thread: the boundary between the entry points and the compiled targets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fixed_order.h"

namespace reduction::kernels {

// Elements that are the first of an array, or an aligned run of leaves. Any byte alignment.
struct Run {
  const std::byte* x;
  const std::byte* y;  // of a dot; else unused
  uint64_t count;
  uint64_t first_index;  // of the first element in its array
  Components components;
  NanPolicy nan_policy;
};

// The state of a run, computed with the widest vectors of this processor. The floating-point
// environment must be the default one.
State ReduceFloat16(const Run& run);
State ReduceBfloat16(const Run& run);
State ReduceFloat32(const Run& run);
State ReduceFloat64(const Run& run);
State ReduceInt8(const Run& run);
State ReduceInt16(const Run& run);
State ReduceInt32(const Run& run);
State ReduceInt64(const Run& run);
State ReduceUint8(const Run& run);
State ReduceUint16(const Run& run);
State ReduceUint32(const Run& run);
State ReduceUint64(const Run& run);

}  // namespace reduction::kernels
