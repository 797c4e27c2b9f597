// Whether anybody still waits for a call.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "server/refusal.h"

namespace reduction::server {

// Thread-safe.
class CallControl {
 public:
  // Follows no change of the clock after that.
  explicit CallControl(std::chrono::system_clock::time_point deadline)
      : deadline_(ToSteady(deadline)) {}

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  bool expired() const { return std::chrono::steady_clock::now() >= deadline_; }
  bool dropped() const { return cancelled() || expired(); }

 private:
  static std::chrono::steady_clock::time_point ToSteady(
      std::chrono::system_clock::time_point deadline) {
    using Steady = std::chrono::steady_clock;
    // gRPC's conversion overflows for deadlines after the year 2262.
    if (deadline < std::chrono::system_clock::time_point()) return Steady::time_point::max();
    const Steady::time_point now = Steady::now();
    const auto left = deadline - std::chrono::system_clock::now();
    return left < Steady::time_point::max() - now ? now + left : Steady::time_point::max();
  }

  std::atomic<bool> cancelled_ = false;
  const std::chrono::steady_clock::time_point deadline_;
};

// The status of a call that nobody waits for any more.
inline Refusal Dropped(const CallControl& control) {
  if (!control.expired()) {
    return {grpc::StatusCode::CANCELLED, "CANCELLED", "The client cancelled the call.", "",
            std::nullopt};
  }
  return {grpc::StatusCode::DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED",
          "The deadline of the call passed before it was done; allow more time.", "", std::nullopt};
}

}  // namespace reduction::server
