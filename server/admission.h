// Who may come in: bounds on bytes in flight, waiting calls, streams and memory for segments.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "server/metrics.h"
#include "server/refusal.h"
#include "server/segment_memory.h"

namespace reduction::server {

struct AdmissionLimits {
  uint64_t max_message_bytes;   // array bytes of one message
  uint64_t memory_limit_bytes;  // all receive memory and staging
  uint64_t staging_bytes;
  uint64_t max_queued_calls;

  // Receive memory that gRPC may take: what staging leaves of the limit.
  uint64_t receive_bytes() const { return memory_limit_bytes - staging_bytes; }
  // Bytes of unary messages that may be in flight. gRPC ends calls without a word when its memory
  // runs out: half of it is left for messages on their way in.
  uint64_t unary_bytes() const { return receive_bytes() / 2; }
  // Receive memory of one ReduceStream call: a message and a 32 MiB window, twice over.
  uint64_t stream_bytes() const { return 2 * (max_message_bytes + (uint64_t{32} << 20)); }
  // ReduceStream calls at once.
  uint64_t max_streams() const { return receive_bytes() / stream_bytes(); }
  // Receive memory without which the server cannot work.
  uint64_t min_receive_bytes() const {
    constexpr uint64_t kSmallest = 128 << 20;
    return std::max(kSmallest, stream_bytes());
  }
  // Whether there is room for staging, and for messages of the allowed size.
  bool Sensible() const {
    return memory_limit_bytes >= staging_bytes && receive_bytes() >= min_receive_bytes();
  }
  // Memory that segments may take, all calls together, while `streams` streams run: what these
  // leave of the receive memory, and an eighth of it in any case.
  uint64_t segment_bytes(uint64_t streams) const {
    const uint64_t reserved = std::max(min_receive_bytes(), streams * stream_bytes());
    return std::max(receive_bytes() / 8, receive_bytes() - std::min(reserved, receive_bytes()));
  }
};

// Thread-safe.
class Admission {
 public:
  Admission(const AdmissionLimits& limits, Metrics& metrics)
      : limits_(limits),
        metrics_(metrics),
        segment_memory_(std::make_shared<SegmentMemory>(limits.receive_bytes())) {}

  const AdmissionLimits& limits() const { return limits_; }

  // Room for one call, given back on destruction.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept : counter_(other.counter_), amount_(other.amount_) {
      other.counter_ = nullptr;
    }
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (counter_ != nullptr) counter_->fetch_sub(amount_);
    }

   private:
    friend class Admission;
    Ticket(std::atomic<uint64_t>* counter, uint64_t amount) : counter_(counter), amount_(amount) {}
    std::atomic<uint64_t>* counter_ = nullptr;
    uint64_t amount_ = 0;
  };

  // Either sets *ticket or returns why not. `array_bytes` of `message_bytes` are array bytes.
  std::optional<Refusal> AdmitUnary(uint64_t message_bytes, uint64_t array_bytes,
                                    uint64_t queue_depth, std::optional<Ticket>* ticket);
  std::optional<Refusal> AdmitStream(std::optional<Ticket>* ticket);
  // `data_bytes`: of arrays and offsets.
  std::optional<Refusal> CheckMessage(uint64_t data_bytes);

  SegmentMemory::Lease NewLease() { return SegmentMemory::Lease(segment_memory_); }
  // Takes `bytes` more for segments, or returns why not.
  std::optional<Refusal> GrowLease(uint64_t bytes, SegmentMemory::Lease* lease);
  // Refuses results of `segments` segments that would never fit.
  std::optional<Refusal> CheckResults(uint64_t segments, uint64_t bytes_per_segment);
  // Refuses now what would be refused later: results of `segments` segments, none taken yet.
  std::optional<Refusal> CheckSegments(uint64_t segments, uint64_t bytes_per_segment);
  // Of gRPC's receive buffers.
  const grpc::ResourceQuota& quota() const { return segment_memory_->quota(); }

  // From now on everything is refused.
  void StartDraining() { draining_.store(true); }
  std::optional<Refusal> CheckDraining();
  bool draining() const { return draining_.load(); }

 private:
  Refusal Exhausted(Rejection rejection, std::string reason, std::string message);

  const AdmissionLimits limits_;
  Metrics& metrics_;
  std::atomic<uint64_t> bytes_in_flight_ = 0;
  std::atomic<uint64_t> streams_ = 0;
  std::atomic<bool> draining_ = false;
  const std::shared_ptr<SegmentMemory> segment_memory_;
};

Refusal Draining();

}  // namespace reduction::server
