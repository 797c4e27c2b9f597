#include <iterator>

#include "kernels/element_type.h"
#include "kernels/statistics.h"

namespace reduction::kernels {
namespace {

// Indexed by enum value; entry 0 is unused.
constexpr std::string_view kElementTypeNames[] = {
    "",      "float16", "bfloat16", "float32", "float64", "int8",   "int16",
    "int32", "int64",   "uint8",    "uint16",  "uint32",  "uint64",
};
constexpr std::string_view kStatisticNames[] = {
    "",
    "sum",
    "min",
    "max",
    "argmin",
    "argmax",
    "mean",
    "variance",
    "standard_deviation",
    "sum_of_squares",
    "l1_norm",
    "l2_norm",
    "nan_count",
    "nonzero_count",
    "dot",
};

}  // namespace

std::string_view ElementTypeName(ElementType type) {
  return kElementTypeNames[static_cast<size_t>(type)];
}

bool ParseElementType(std::string_view name, ElementType* type) {
  for (size_t i = 1; i < std::size(kElementTypeNames); ++i) {
    if (kElementTypeNames[i] == name) {
      *type = static_cast<ElementType>(i);
      return true;
    }
  }
  return false;
}

std::string_view StatisticName(Statistic statistic) {
  return kStatisticNames[static_cast<size_t>(statistic)];
}

}  // namespace reduction::kernels
