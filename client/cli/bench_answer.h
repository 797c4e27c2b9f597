// Whether answers to the same call agree.
#pragma once

#include <variant>

#include "reduction/reduction.hpp"

namespace reduction::cli {

using Answer = std::variant<Reduction, SegmentedReduction>;

// Whether all values and counts are the same bits; where they ran may differ. With a `tolerance`
// above 0, float64 values may differ by that much.
bool SameAnswer(const Answer& a, const Answer& b, double tolerance);

const std::vector<Execution>& ExecutionsOf(const Answer& answer);

}  // namespace reduction::cli
