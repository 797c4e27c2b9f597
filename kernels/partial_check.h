// What can be wrong with a partial from outside.
#pragma once

#include <string>

#include "kernels/partial.h"

namespace reduction::kernels {

// Each returns an empty string when all is sound, else a sentence that says what is wrong.

// The set of components is one that a partial can have.
std::string ComplaintAboutPlan(const Plan& plan);

// The elements start on a leaf, and an array can be that long.
std::string ComplaintAboutRange(ElementType type, uint64_t first, uint64_t count);

// The nodes are the canonical decomposition of the part's leaves, and each state is one that its
// elements can have. Plan and range are sound.
std::string ComplaintAboutNodes(const Partial& partial);

// All of it.
std::string ComplaintAbout(const Partial& partial);

}  // namespace reduction::kernels
