// Counts the pieces of a caller's memory that gRPC may still read.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace reduction::detail {

// Thread-safe. Must outlive its pieces: wait before destroying it.
class BorrowedMemory {
 public:
  void Lend() {
    const std::lock_guard lock(mutex_);
    ++pieces_;
  }

  // `self` is a BorrowedMemory: the signature is that of a slice's destroy function.
  static void Return(void* self) {
    auto* const memory = static_cast<BorrowedMemory*>(self);
    const std::lock_guard lock(memory->mutex_);
    // Under the lock, because the waiter may destroy *memory as soon as it is free.
    if (--memory->pieces_ == 0) memory->free_.notify_all();
  }

  void WaitUntilFree() {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return pieces_ == 0; });
  }

  bool IsFree() {
    const std::lock_guard lock(mutex_);
    return pieces_ == 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  size_t pieces_ = 0;
};

}  // namespace reduction::detail
