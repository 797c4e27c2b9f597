// From the partials of all parts of an array to its statistics.
#pragma once

#include <cstdint>
#include <vector>

#include "client/src/wire.h"

namespace reduction::detail {

struct PartResult {
  uint64_t first_element = 0;  // what was asked for
  uint64_t element_count = 0;
  PartialResponse response;
};

// The same bits as one call over the whole array. INTERNAL when a partial is not what was asked
// for; OUT_OF_RANGE as in one call.
Result<Reduction> CombineParts(const Request& request, std::vector<PartResult> parts);

}  // namespace reduction::detail
