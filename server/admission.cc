#include "server/admission.h"

#include <string>
#include <utility>

namespace reduction::server {
namespace {

constexpr std::chrono::milliseconds kRetryDelay{100};

}  // namespace

Refusal Draining() {
  return {grpc::StatusCode::UNAVAILABLE, "DRAINING",
          "The server is shutting down; send the call again, to another server if there is one.",
          "", kRetryDelay};
}

Refusal Admission::Exhausted(Rejection rejection, std::string reason, std::string message) {
  metrics_.CountRejected(rejection);
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, std::move(reason), std::move(message), "",
          kRetryDelay};
}

std::optional<Refusal> Admission::CheckDraining() {
  if (!draining()) return std::nullopt;
  metrics_.CountRejected(Rejection::kDraining);
  return Draining();
}

std::optional<Refusal> Admission::CheckMessage(uint64_t data_bytes) {
  if (data_bytes <= limits_.max_message_bytes) return std::nullopt;
  Refusal refusal =
      Exhausted(Rejection::kMessageSize, "MESSAGE_TOO_LARGE",
                "The message carries " + std::to_string(data_bytes) +
                    " bytes of arrays and offsets, more than the limit of " +
                    std::to_string(limits_.max_message_bytes) +
                    " (--max-message); send the array through ReduceStream, in smaller chunks.");
  refusal.retry_delay.reset();  // the same message never fits
  return refusal;
}

std::optional<Refusal> Admission::AdmitUnary(uint64_t message_bytes, uint64_t array_bytes,
                                             uint64_t queue_depth, std::optional<Ticket>* ticket) {
  if (auto refusal = CheckDraining()) return refusal;
  if (auto refusal = CheckMessage(array_bytes)) return refusal;
  if (queue_depth >= limits_.max_queued_calls) {
    return Exhausted(Rejection::kQueue, "QUEUE_FULL",
                     std::to_string(queue_depth) +
                         " calls wait already, the limit of --queue; "
                         "send the call again a little later.");
  }
  const uint64_t in_flight = bytes_in_flight_.fetch_add(message_bytes) + message_bytes;
  ticket->emplace(Ticket(&bytes_in_flight_, message_bytes));
  const uint64_t limit = limits_.unary_bytes() - segment_memory_->taken() / 2;
  if (in_flight > limit) {
    ticket->reset();
    return Exhausted(Rejection::kMemory, "MEMORY_EXHAUSTED",
                     "With this message " + std::to_string(in_flight) +
                         " bytes would be in flight, more than the limit of " +
                         std::to_string(limit) +
                         " (half of what --memory-limit leaves beside staging and segments); send "
                         "the call again a little later.");
  }
  return std::nullopt;
}

std::optional<Refusal> Admission::AdmitStream(std::optional<Ticket>* ticket) {
  if (auto refusal = CheckDraining()) return refusal;
  const uint64_t streams = streams_.fetch_add(1) + 1;
  ticket->emplace(Ticket(&streams_, 1));
  if (streams > limits_.max_streams() ||
      segment_memory_->taken() > limits_.segment_bytes(streams)) {
    ticket->reset();
    return Exhausted(
        Rejection::kStreams, "TOO_MANY_STREAMS",
        std::to_string(streams - 1) +
            " streams run already, the limit that "
            "--memory-limit and --max-message allow; send the call again a little later.");
  }
  return std::nullopt;
}

std::optional<Refusal> Admission::GrowLease(uint64_t bytes, SegmentMemory::Lease* lease) {
  const uint64_t limit = limits_.segment_bytes(streams_.load());
  if (lease->Grow(bytes, limit)) return std::nullopt;
  return Exhausted(Rejection::kMemory, "MEMORY_EXHAUSTED",
                   "Offsets and results of segments take " +
                       std::to_string(segment_memory_->taken()) + " bytes, and " +
                       std::to_string(bytes) + " more would exceed the limit of " +
                       std::to_string(limit) +
                       " (what --memory-limit leaves beside staging and messages); send the call "
                       "again a little later, or fewer segments at once.");
}

std::optional<Refusal> Admission::CheckResults(uint64_t segments, uint64_t bytes_per_segment) {
  // protobuf's limit, less what else a response has.
  constexpr uint64_t kMaxResponseBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);
  const uint64_t limit = std::min(kMaxResponseBytes, limits_.segment_bytes(0));
  if (segments <= limit / bytes_per_segment) return std::nullopt;
  Refusal refusal = Exhausted(
      Rejection::kSegments, "TOO_MANY_SEGMENTS",
      "The results of " + std::to_string(segments) + " segments take more than the limit of " +
          std::to_string(limit) +
          " bytes (of a message, and of what --memory-limit leaves beside staging); send fewer "
          "segments in a call, or ask for fewer statistics.");
  refusal.retry_delay.reset();  // the same call never fits
  return refusal;
}

std::optional<Refusal> Admission::CheckSegments(uint64_t segments, uint64_t bytes_per_segment) {
  if (auto refusal = CheckResults(segments, bytes_per_segment)) return refusal;
  const uint64_t bytes = segments * bytes_per_segment;
  const uint64_t taken = segment_memory_->taken();
  const uint64_t room = limits_.segment_bytes(streams_.load());
  if (taken + bytes <= room) return std::nullopt;
  return Exhausted(Rejection::kMemory, "MEMORY_EXHAUSTED",
                   "The results of " + std::to_string(segments) + " segments take " +
                       std::to_string(bytes) + " bytes, beside " + std::to_string(taken) +
                       " in use, more than the limit of " + std::to_string(room) +
                       " (what --memory-limit leaves beside staging and messages); send the call "
                       "again a little later.");
}

}  // namespace reduction::server
