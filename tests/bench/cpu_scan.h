// What the CPU backend is measured against: a loop that only reads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reduction::bench {

// The exclusive or of `count` words, a multiple of 4,096 bytes; `words` is aligned to 64 bytes. By
// the widest vectors of this CPU, as the backend's kernels. Reads the words from one end to the
// other, or as `streams` (1, 2, 4 or 8) equal parts side by side.
uint32_t ScanOnCpu(const uint32_t* words, size_t count, size_t streams);

}  // namespace reduction::bench
