// How a run that takes long is ended early.
#pragma once

#include <chrono>

namespace reduction::cli {

// While one exists, the first SIGINT and the first SIGTERM stop the run; the next one has its usual
// effect. One at a time in a process. Thread-safe. The constructor throws std::system_error when
// the process has no file descriptor left.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void Stop() const;

  // Waits until then, or until the run is stopped. Whether it is.
  bool WaitUntil(std::chrono::steady_clock::time_point time) const;

 private:
  int event_;  // readable once stopped
};

}  // namespace reduction::cli
