// What this machine's processor is, and how fast it moves bytes.
#pragma once

#include "kernels/backend.h"

namespace reduction::kernels {

// Cores that this process may run on, at least 1.
unsigned AvailableCores();

// Describes the CPU. Takes up to 100 ms to measure, with 128 MiB of memory for that time:
// memory_bytes_per_second: read-only scan of those 128 MiB by all available cores;
// copy_bytes_per_second: memcpy of one half to the other by one thread, bytes copied (not touched).
// Both are 0 when the memory could not be had.
DeviceInfo DescribeCpu();

}  // namespace reduction::kernels
