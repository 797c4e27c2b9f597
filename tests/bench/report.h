// Prints rows as a table for people or as JSON lines for scripts.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace reduction::bench {

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  // The device that everything was measured on.
  void Device(const Bench& bench);
  // Starts a table. `group` names its rows in JSON; `title` says what is measured and how.
  void Begin(std::string group, const std::string& title);
  // Rows that were timed in one run and have one setting: the CUB, the read-only and the flat row
  // among them, where there are any, are what the speeds of all are compared with.
  void Add(const std::vector<Row>& rows);

 private:
  bool json_;
  std::string group_;
  double peak_ = 0;  // GB/s
};

}  // namespace reduction::bench
