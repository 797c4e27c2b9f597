// Whether anybody still waits for a call.
#pragma once

#include <atomic>
#include <chrono>

namespace reduction::server {

// Thread-safe.
class CallControl {
 public:
  explicit CallControl(std::chrono::system_clock::time_point deadline) : deadline_(deadline) {}

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  bool expired() const { return std::chrono::system_clock::now() >= deadline_; }
  bool dropped() const { return cancelled() || expired(); }

 private:
  std::atomic<bool> cancelled_ = false;
  const std::chrono::system_clock::time_point deadline_;
};

}  // namespace reduction::server
