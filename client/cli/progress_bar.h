// A line on standard error that shows how far a transfer is.
#pragma once

#include <chrono>
#include <cstdint>

namespace reduction::cli {

// Shows nothing unless standard error is a terminal and the transfer takes more than a second.
// The line is gone when the bar is.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `total` is 0 when it is not known.
  void Update(uint64_t done, uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_at_{};
  bool shown_ = false;
};

}  // namespace reduction::cli
