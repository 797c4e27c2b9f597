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

std::optional<Refusal> Admission::CheckMessage(uint64_t array_bytes) {
  if (array_bytes <= limits_.max_message_bytes) return std::nullopt;
  Refusal refusal = Exhausted(
      Rejection::kMessageSize, "MESSAGE_TOO_LARGE",
      "The message carries " + std::to_string(array_bytes) +
          " array bytes, more than the limit of " + std::to_string(limits_.max_message_bytes) +
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
  if (in_flight > limits_.unary_bytes()) {
    ticket->reset();
    return Exhausted(Rejection::kMemory, "MEMORY_EXHAUSTED",
                     "With this message " + std::to_string(in_flight) +
                         " bytes would be in flight, more than the limit of " +
                         std::to_string(limits_.unary_bytes()) +
                         " (half of what --memory-limit leaves beside staging); send the call "
                         "again a little later.");
  }
  return std::nullopt;
}

std::optional<Refusal> Admission::AdmitStream(std::optional<Ticket>* ticket) {
  if (auto refusal = CheckDraining()) return refusal;
  const uint64_t streams = streams_.fetch_add(1) + 1;
  ticket->emplace(Ticket(&streams_, 1));
  if (streams > limits_.max_streams()) {
    ticket->reset();
    return Exhausted(
        Rejection::kStreams, "TOO_MANY_STREAMS",
        std::to_string(streams - 1) +
            " streams run already, the limit that "
            "--memory-limit and --max-message allow; send the call again a little later.");
  }
  return std::nullopt;
}

}  // namespace reduction::server
