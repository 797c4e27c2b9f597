// How an array is cut over connections.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reduction::detail {

// Bytes of each array in one part: a multiple of leaf_bytes. Several parts a connection, so that a
// slow one does not keep the others waiting, but none so small that starting it shows. When it is
// array_bytes or more, the array is better sent whole. `arrays` is 2 for a dot product.
uint64_t PartBytes(uint64_t array_bytes, size_t connections, uint32_t leaf_bytes, int arrays);

}  // namespace reduction::detail
