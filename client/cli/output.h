// How results look on standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/arguments.h"
#include "reduction/reduction.hpp"

namespace reduction::cli {

// A finished call.
struct Report {
  Command command = Command::kSum;
  ElementType type = ElementType::kFloat32;
  Reduction reduction;
  double seconds = 0;  // as seen from here, data transfer included
  uint64_t bytes = 0;  // of all arrays
};

// All end with a newline. Doubles are the shortest text that reads back as the same bits; NaN and
// infinities are NaN, Infinity and -Infinity (strings in JSON).
std::string FormatJson(const Report& report);
std::string FormatText(const Report& report);

std::string FormatInfo(const std::vector<ServerInfo>& servers, bool json);
std::string FormatHealth(bool serving, bool json);

// One line for standard error: "reduction: CODE: message".
std::string FormatError(const Status& status);

// "1.5 GiB"
std::string FormatBytes(double bytes);

}  // namespace reduction::cli
