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
template <class Reduction>
struct BasicReport {
  Command command = Command::kSum;
  ElementType type = ElementType::kFloat32;
  Reduction reduction;
  double seconds = 0;  // as seen from here, data transfer included
  uint64_t bytes = 0;  // of all arrays
};
using Report = BasicReport<Reduction>;
using SegmentsReport = BasicReport<SegmentedReduction>;

// All end with a newline. Doubles are the shortest text that reads back as the same bits; NaN and
// infinities are NaN, Infinity and -Infinity (strings in JSON).
std::string FormatJson(const Report& report);
std::string FormatText(const Report& report);

// The same with an array in place of each value, null where there is none, and `counts`.
std::string FormatJson(const SegmentsReport& report);
// A line a segment: the value, or for stats the count and all values with tabs between them, below
// a line that names them; "none" where there is no value.
std::string FormatText(const SegmentsReport& report);

std::string FormatInfo(const std::vector<ServerInfo>& servers, bool json);
std::string FormatHealth(bool serving, bool json);

// One line for standard error: "reduction: CODE: message".
std::string FormatError(const Status& status);

// "name                value\n"
std::string Line(std::string_view name, const std::string& value);

// The distinct devices, or algorithms, in order, joined by commas.
std::string JoinDevices(const std::vector<Execution>& executions);
std::string JoinAlgorithms(const std::vector<Execution>& executions);

// "1.5 GiB"
std::string FormatBytes(double bytes);

}  // namespace reduction::cli
