// ReduceStream: an array of any length, in chunks, in constant memory.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>

#include "server/array_reduction.h"
#include "server/device_pool.h"
#include "server/rpc.h"

namespace reduction::v1 {
class ReduceStreamRequest;
}

namespace reduction::server {

// gRPC's threads receive; a lane stages and reduces what has come, then the call leaves the lane
// until there is more, so that a slow client holds neither lane nor staging slot. While too much
// waits for a lane no read is outstanding, and flow control stops the client.
//
// Deletes itself when gRPC and the lanes are done with it.
class StreamCall final : public grpc::ServerReadReactor<grpc::ByteBuffer>, public Work {
 public:
  StreamCall(Rooms& rooms, MethodMetrics& metrics, grpc::CallbackServerContext* context,
             grpc::ByteBuffer* response);

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  size_t staged_bytes() const override { return SIZE_MAX; }
  void Stage(LaneDriver& driver) override;
  void Complete(LaneDriver& driver) override;

  // Ends the call, unless it has ended. Any thread.
  void FinishWith(const Refusal& refusal);
  // Ends the call when it was slower than `rate` bytes a second over the last window of ten seconds
  // in which a read was outstanding.
  void CheckRate(uint64_t rate);

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

 private:
  ~StreamCall() override;
  // The rest of OnReadDone, for a message.
  std::optional<Refusal> Receive();
  std::optional<Refusal> ReadHeader(const v1::ReduceStreamRequest& message);
  // Of a header with segments, or of a message that continues their offsets.
  std::optional<Refusal> ReadSegments(const v1::ReduceStreamRequest& message,
                                      std::string_view offsets);
  // No more offsets can come.
  std::optional<Refusal> CloseSegments();
  std::optional<Refusal> CheckLength();
  // With the lock held: hands the call to a lane when there is something to do for it.
  void ScheduleLocked();
  // With the lock held: reads on unless too much waits.
  void ReadLocked();
  // With the lock held: true for the one caller that may end the call.
  bool ClaimEndLocked();
  // For that caller, without the lock.
  void End(grpc::Status status, const grpc::ByteBuffer& response);
  // Ends the call, unless it has ended.
  void FinishOnce(grpc::Status status, const grpc::ByteBuffer& response = {});
  void Respond();

  Rooms& rooms_;
  RpcRecord record_;
  CallControl control_;
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  std::atomic<int> references_ = 1;
  std::optional<Admission::Ticket> ticket_;

  // Set by the header, before the call is first scheduled.
  ReductionSpec spec_;
  std::optional<uint64_t> announced_elements_;
  std::optional<Segments> segments_;  // complete before there is data for a lane
  DevicePool* pool_ = nullptr;
  std::optional<DeviceUse> use_;
  std::optional<ArrayReduction> reduction_;

  // Of the one lane that runs the call, or of nobody while it is not scheduled.
  ByteQueue x_;
  ByteQueue y_;
  bool took_everything_ = false;

  std::mutex mutex_;
  grpc::ByteBuffer message_;  // of the read outstanding
  ByteQueue waiting_x_;       // received, not yet taken by a lane
  ByteQueue waiting_y_;
  size_t waiting_messages_ = 0;
  uint64_t received_bytes_ = 0;  // of each array
  bool reading_ = false;
  bool scheduled_ = false;
  bool ended_ = false;  // the client has sent everything
  bool finished_ = false;
  int64_t first_read_ns_ = 0;
  int64_t read_since_ns_ = 0;   // when the read outstanding began
  int64_t window_wait_ns_ = 0;  // time with a read outstanding in this window
  uint64_t window_bytes_ = 0;
};

}  // namespace reduction::server
