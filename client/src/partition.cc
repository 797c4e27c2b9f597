#include "client/src/partition.h"

#include <algorithm>

namespace reduction::detail {

uint64_t PartBytes(uint64_t array_bytes, size_t connections, uint32_t leaf_bytes, int arrays) {
  constexpr uint64_t kSmallest = 4 << 20;
  constexpr uint64_t kUsual = 64 << 20;
  constexpr uint64_t kLargest = 256 << 20;
  constexpr uint64_t kPartsPerConnection = 4;
  const uint64_t total = array_bytes * arrays;
  const uint64_t fair_share = total / connections;
  const uint64_t wanted = std::clamp(fair_share / kPartsPerConnection,
                                     std::clamp(fair_share, kSmallest, kUsual), kLargest);
  const uint64_t leaves = (wanted / arrays + leaf_bytes - 1) / leaf_bytes;
  return leaves * leaf_bytes;
}

}  // namespace reduction::detail
