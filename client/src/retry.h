// Repeating small unary calls.
#pragma once

#include <chrono>

#include "client/src/deadline.h"
#include "reduction/status.hpp"

namespace reduction::detail {

// Whether a call that ended with `status` may be repeated: the server was unavailable, or exhausted
// and says when to come back.
bool IsRetryable(const Status& status);

// Time to wait before repetition `repetition` (0, 1, …): 50 ms doubled each time, 2 s at most,
// times a factor from 0.5 to 1 that `jitter` in [0, 1] chooses; not less than the server asks for.
std::chrono::nanoseconds RetryDelay(int repetition, double jitter, const Status& status);

// A random number in [0, 1]. Thread-safe.
double Jitter();

// Waits as long as RetryDelay says. False, without waiting, when that would miss the deadline.
bool WaitToRetry(int repetition, const Status& status, Deadline deadline);

// Calls `attempt` until it succeeds, cannot be repeated, was repeated `retries` times, or no time
// is left; gives its last status.
template <class Attempt>
Status CallWithRetries(int retries, Deadline deadline, Attempt&& attempt) {
  Status status = attempt();
  for (int repetition = 0; repetition < retries && IsRetryable(status); ++repetition) {
    if (!WaitToRetry(repetition, status, deadline)) break;
    status = attempt();
  }
  return status;
}

}  // namespace reduction::detail
