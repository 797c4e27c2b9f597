// What bench measured, and how it looks on standard output.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/bench_load.h"
#include "client/cli/latency_histogram.h"

namespace reduction::cli {

struct BenchTally {
  LatencyHistogram latencies;  // of calls that succeeded with the right answer
  uint64_t bytes = 0;          // of their arrays
  std::map<StatusCode, uint64_t> failures;
  uint64_t wrong_answers = 0;
  std::optional<Status> failure;      // one of them
  std::vector<Execution> executions;  // one for each device and algorithm

  void Add(const EndedCall& call, std::chrono::nanoseconds latency);
  void Merge(const BenchTally& other);

  uint64_t failed() const;  // wrong answers among them
  uint64_t calls() const { return latencies.count() + failed(); }
};

// One object on one line; `arguments` are those of the bench, which took `seconds`. errors has the
// calls that failed by status code, and WRONG_ANSWER; latencies are null where no call succeeded.
std::string FormatJson(const Arguments& arguments, const BenchTally& tally, double seconds);
std::string FormatText(const Arguments& arguments, const BenchTally& tally, double seconds);

}  // namespace reduction::cli
