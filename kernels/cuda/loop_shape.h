// Shapes of the loops over rows, as data: no result depends on them. Measured on an H200.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/component_sets.h"

namespace reduction::kernels::cuda {

// How the loop over rows is compiled.
struct LoopShape {
  uint32_t rows;        // on their way together: a power of two
  uint32_t min_blocks;  // that fit a multiprocessor: bounds the registers
};

constexpr LoopShape TunedLoop(Components components, size_t element_bytes, bool floating) {
  const uint32_t halves = element_bytes == 8 ? 2 : 1;  // blocks of half the threads
  if (components == kAllSet) {
    if (element_bytes == 4) return {32, 8};
    if (element_bytes == 8) return {16, 16};
    return {16, floating ? 7u : 5u};
  }
  if (components == kDotSet) {
    if (element_bytes == 1) return {32, 4};
    return {16, (element_bytes == 2 && floating ? 5 : 6) * halves};
  }
  if (components == kSevenSet || components == kMomentsSet) {
    if (element_bytes == 4) return {32, 8};
    return {16, 8 * halves};
  }
  if (element_bytes == 8) return {16, 16};
  return {element_bytes < 4 ? 16u : 32u, element_bytes == 1 ? 10u : 8u};
}

}  // namespace reduction::kernels::cuda
