// A row of the benchmark: what is run and what was measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/element_type.h"

namespace reduction::bench {

// What other rows of the same run are compared with.
enum class Yardstick { kNone, kCub, kReadOnly, kFlat };

struct Row {
  std::string name;
  kernels::ElementType type;
  uint64_t count;  // elements; of a dot: of each array
  double bytes;    // that are moved; 0: speed means nothing here
  Yardstick yardstick = Yardstick::kNone;
  bool synchronises = false;        // cannot be enqueued: it waits for its result
  bool reads_device_memory = true;  // `bytes` are read from there, so that its peak is the limit
  std::function<void(uint64_t first)> run = {};  // over the slice that starts at element `first`
  std::string setting = {};  // what the rows of one run have in common, where groups have several
  int batch = 1;             // launches that were measured together
  std::vector<double> milliseconds = {};  // of one launch each

  // Of milliseconds, which is not empty.
  double Median() const;
  // Relative interquartile range: (upper - lower quartile) / median.
  double Spread() const;
  double GigabytesPerSecond() const { return bytes / Median() / 1e6; }
};

}  // namespace reduction::bench
