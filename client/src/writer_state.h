// The inside of a ReduceStream.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/src/client_state.h"

namespace reduction::detail {

// Gathers what is written into messages of one size. Not thread-safe.
class WriterState {
 public:
  // Keeps `client` alive. Offsets of segments are sent at once, and not referred to afterwards.
  WriterState(std::shared_ptr<const ClientState> client, const ClientState::Route& route,
              Request request, std::optional<uint64_t> element_count, uint64_t message_bytes,
              Deadline deadline);

  ElementType type() const { return request_.type; }
  bool is_dot() const { return request_.is_dot(); }

  // `y` is as long as `x` for a dot product, else empty.
  Status Write(std::span<const std::byte> x, std::span<const std::byte> y);
  // For a request without segments, and for one with.
  Result<Reduction> Finish();
  Result<SegmentedReduction> FinishSegments();

  // Fails the stream with `status`, cancelling the call, unless it has failed or is finished; how
  // it stands.
  Status Refuse(const Status& status);

 private:
  Status Fail(const Status& status);
  Status Send(std::span<const std::byte> x, std::span<const std::byte> y);
  // After Send(): fails the stream when that could not send.
  Status CheckSent(bool sent);
  // Sends what is gathered.
  void Flush();
  // Sends what is gathered and waits for the answer.
  Status End(std::string* response);

  std::shared_ptr<const ClientState> client_;
  const Target& target_;
  Request request_;
  const std::optional<uint64_t> element_count_;
  const size_t chunk_bytes_;          // of each array
  std::unique_ptr<StreamCall> call_;  // null when finished or failed
  Status failure_;
  std::vector<std::byte> x_;  // gathered, less than a chunk
  std::vector<std::byte> y_;
  uint64_t offset_ = 0;  // bytes of each array that were sent
  bool header_sent_ = false;
  std::chrono::steady_clock::time_point last_sent_ = std::chrono::steady_clock::now();
  std::optional<uint64_t> segments_;  // where offsets told
};

}  // namespace reduction::detail
