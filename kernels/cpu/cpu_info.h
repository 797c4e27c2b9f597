// What this machine's processor is, and how fast it moves bytes.
#pragma once

#include "kernels/backend.h"

namespace reduction::kernels {

// Cores that this process may run on, at least 1.
unsigned AvailableCores();

// Describes the CPU. Takes some 50 ms to measure, with 8.5 MiB of memory a core for that time. Both
// peaks are sums over all available cores at work together, each core's the best of a few rounds:
// memory_bytes_per_second: scans of a staging slot, which the copy before left in the core's cache,
// as it does for kernels;
// copy_bytes_per_second: copies into that slot from 8 MiB, bytes copied (not touched).
DeviceInfo DescribeCpu();

}  // namespace reduction::kernels
