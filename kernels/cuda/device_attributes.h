// What the driver says of a device.
#pragma once

#include <cstdint>

#include "kernels/cuda/cuda_error.h"

namespace reduction::kernels::cuda {

inline uint32_t Attribute(cudaDeviceAttr attribute, int ordinal) {
  int value = 0;
  Check(cudaDeviceGetAttribute(&value, attribute, ordinal));
  return static_cast<uint32_t>(value);
}

// Bytes per second that the device's memory can give: two transfers a clock, which is in kHz, of a
// bus whose width is in bits.
inline double MemoryPeak(int ordinal) {
  return 2e3 * Attribute(cudaDevAttrMemoryClockRate, ordinal) *
         Attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal) / 8;
}

}  // namespace reduction::kernels::cuda
