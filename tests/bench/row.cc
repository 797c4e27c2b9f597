#include "tests/bench/row.h"

#include <algorithm>

namespace reduction::bench {
namespace {

// The value that `quarters` quarters of the sorted values lie below, by nearest rank.
double Quartile(std::vector<double> values, size_t quarters) {
  const size_t rank = (values.size() - 1) * quarters / 4;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

}  // namespace

double Row::Median() const { return Quartile(milliseconds, 2); }

double Row::Spread() const {
  return (Quartile(milliseconds, 3) - Quartile(milliseconds, 1)) / Median();
}

}  // namespace reduction::bench
