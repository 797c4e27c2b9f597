// What V3 to V6 load.
#pragma once

#include <cstddef>

namespace reduction::kernels::ladder {

// The thread's element of the block's first `threads` and its element of the block's next ones.
// Each bound is checked: a count need not be a multiple of anything.
__device__ inline float LoadTwo(const float* x, size_t count, unsigned threads) {
  const size_t i = size_t{blockIdx.x} * 2 * threads + threadIdx.x;
  float own = i < count ? x[i] : 0.0f;
  if (i + threads < count) own += x[i + threads];
  return own;
}

}  // namespace reduction::kernels::ladder
