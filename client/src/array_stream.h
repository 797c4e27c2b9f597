// Sends arrays that lie in memory, whole or in parts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "client/src/connection.h"
#include "client/src/wire.h"

namespace reduction::detail {

// One array, or the two of a dot product (of one length).
struct Arrays {
  std::span<const std::byte> x;
  std::span<const std::byte> y;

  uint64_t total_bytes() const { return uint64_t{x.size()} + y.size(); }
  // The same range of both.
  Arrays Slice(uint64_t offset, uint64_t length) const {
    return {x.subspan(offset, length), y.empty() ? y : y.subspan(offset, length)};
  }
};

// Counts bytes sent. Add() is thread-safe; Report() belongs to the thread that made the call.
class Progress {
 public:
  Progress(const std::function<void(uint64_t, uint64_t)>& callback, uint64_t total)
      : callback_(callback), total_(total) {}

  void Add(uint64_t bytes) { sent_.fetch_add(bytes, std::memory_order_relaxed); }

  // Tells the callback, unless it heard within the last 50 ms.
  void Report() {
    if (!callback_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    callback_(sent_.load(std::memory_order_relaxed), total_);
  }

 private:
  const std::function<void(uint64_t, uint64_t)>& callback_;
  uint64_t total_;
  std::atomic<uint64_t> sent_ = 0;
  std::chrono::steady_clock::time_point last_{};
};

// Sends the header of a request whose segments have offsets, and these. False when the call has
// failed.
bool SendHeadWithOffsets(StreamCall* call, const Request& request,
                         std::optional<uint64_t> element_count, uint64_t message_bytes,
                         Payload payload);

// Sends `arrays` over `call` in messages of at most `message_bytes`, without copying. `on_sent`
// gets the bytes of each message. Gives the call's status.
Status SendArrays(StreamCall* call, const Request& request, const StreamPart& part,
                  const Arrays& arrays, uint64_t message_bytes,
                  const std::function<void(uint64_t)>& on_sent, std::string* response);

// Cuts `arrays` in parts of `part_bytes` of each array, a multiple of the leaf, and spreads them
// over `connections`. The same bits as one call.
Result<Reduction> ReduceInParts(std::span<const Connection* const> connections,
                                const Request& request, const Arrays& arrays, uint64_t part_bytes,
                                uint64_t message_bytes, Deadline deadline);

}  // namespace reduction::detail
