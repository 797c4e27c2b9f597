// How the command line cuts an array into segments.
#pragma once

#include <cstdint>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/input.h"
#include "reduction/reduction.hpp"
#include "reduction/status.hpp"

namespace reduction::cli {

class ArraySegments {
 public:
  // `arguments` have segments; `array` is the first one to be cut. INVALID_ARGUMENT with a sentence
  // where a file has no rows, or no offsets.
  static Result<ArraySegments> Read(const Arguments& arguments, const ArrayInput& array);

  // Refers to this object's offsets.
  Segmentation segmentation() const;

 private:
  SegmentLength length_;  // 0: by offsets
  std::vector<uint64_t> offsets_;
};

}  // namespace reduction::cli
