// The command line of `reduction`.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "reduction/reduction.hpp"
#include "reduction/status.hpp"

namespace reduction::cli {

enum class Command { kSum, kMin, kMax, kDot, kStats, kBench, kHealth, kInfo };

// The word that names the command.
std::string CommandName(Command command);

// The load of bench.
struct BenchArguments {
  std::optional<Command> op = Command::kSum;  // absent: all of them and segments, in turn
  uint64_t bytes = 1 << 20;                   // of each array, whole elements
  int concurrency = 0;                        // calls in flight; 0 while parsing: not given
  // The load ends with the first of these; without one, never.
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<uint64_t> requests;
  std::optional<double> rate;  // calls a second
};

struct Arguments {
  Command command = Command::kHealth;
  std::vector<std::string> files;
  std::string target;
  int connections = 1;
  std::optional<ElementType> dtype;
  // Of stats; empty: everything that the server gives.
  std::vector<Statistic> statistics;
  // Results for each segment, when one of these is given.
  std::optional<uint64_t> segment_length;
  std::string segment_offsets;  // a .npy file
  bool rows = false;

  BenchArguments bench;  // dtype is present then

  ReduceOptions options;
  bool json = false;

  bool has_segments() const { return segment_length || !segment_offsets.empty() || rows; }
};

// What to do after parsing: run the command, or print `text` and end.
struct ParsedLine {
  std::optional<Arguments> arguments;
  std::string text;  // of --help and --version
};

// INVALID_ARGUMENT with one sentence for a wrong line.
Result<ParsedLine> ParseArguments(int argc, const char* const* argv);

}  // namespace reduction::cli
