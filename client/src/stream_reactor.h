// The gRPC side of a StreamCall.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "client/src/borrowed_memory.h"
#include "client/src/connection.h"

namespace reduction::detail {

// Writes queued messages one after the other on gRPC's threads. The owner holds the call open until
// Finish(), so nothing is written to a call that has ended.
class StreamCall::Reactor final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Call once, before anything else.
  void Start(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
             Deadline deadline);

  bool Send(const Message& message, Payload payload);
  Status Finish(std::string* response);
  void Cancel();
  bool finished() const { return finishing_; }  // for the owner's thread

 private:
  // One is on its way, the next must be at hand when it left; more only cost memory.
  static constexpr size_t kQueueDepth = 2;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  BorrowedMemory memory_;

  // Absent after the end: it keeps the call, and the call can keep the last message.
  std::optional<grpc::ClientContext> context_{std::in_place};
  std::mutex context_mutex_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<grpc::ByteBuffer> queue_;
  bool writing_ = false;    // a write is outstanding
  bool failed_ = false;     // nothing more will be written
  bool finishing_ = false;  // the queue ends the stream
  bool done_ = false;
  grpc::Status status_;

  grpc::ByteBuffer current_;  // the outstanding write
  grpc::ByteBuffer response_;
};

}  // namespace reduction::detail
