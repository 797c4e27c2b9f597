#include "client/src/retry.h"

#include <algorithm>
#include <random>
#include <thread>

namespace reduction::detail {

bool IsRetryable(const Status& status) {
  return status.code == StatusCode::kUnavailable ||
         (status.code == StatusCode::kResourceExhausted && status.retry_delay.has_value());
}

std::chrono::nanoseconds RetryDelay(int repetition, double jitter, const Status& status) {
  constexpr std::chrono::duration<double, std::milli> kFirst(50);
  constexpr std::chrono::duration<double, std::milli> kLongest(2000);
  constexpr int kMaxDoublings = 10;
  const auto backoff = std::min(kLongest, kFirst * (1 << std::min(repetition, kMaxDoublings)));
  const auto delay =
      std::chrono::duration_cast<std::chrono::nanoseconds>(backoff * (0.5 + 0.5 * jitter));
  return std::max(delay, status.retry_delay.value_or(std::chrono::nanoseconds(0)));
}

double Jitter() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>(0.0, 1.0)(generator);
}

bool WaitToRetry(int repetition, const Status& status, Deadline deadline) {
  const auto delay = RetryDelay(repetition, Jitter(), status);
  if (std::chrono::system_clock::now() + delay >= deadline) return false;
  std::this_thread::sleep_for(delay);
  return true;
}

}  // namespace reduction::detail
