// Points in time at which calls end.
#pragma once

#include <algorithm>
#include <chrono>

namespace reduction::detail {

using Deadline = std::chrono::system_clock::time_point;

// `timeout` from now; a year at most, so that no sum of times overflows.
inline Deadline DeadlineAfter(std::chrono::nanoseconds timeout) {
  constexpr std::chrono::nanoseconds kYear = std::chrono::hours(24 * 365);
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<Deadline::duration>(
             std::clamp(timeout, std::chrono::nanoseconds(0), kYear));
}

}  // namespace reduction::detail
