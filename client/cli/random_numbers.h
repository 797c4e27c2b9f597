// Arrays of random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reduction/element_type.hpp"

namespace reduction::cli {

// `count` elements: floats uniform in [-1, 1), integers uniform in [-1000, 1000], unsigned ones in
// [0, 1000], 8-bit ones in [-100, 100] and [0, 100], so that sums and dot products fit in 64 bits.
// A function of the arguments alone.
std::vector<std::byte> RandomNumbers(ElementType type, uint64_t count, uint64_t seed);

}  // namespace reduction::cli
