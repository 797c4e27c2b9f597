// Sum, Max, Min, Dot and Reduce: one message, one array.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <optional>
#include <string>

#include "server/array_reduction.h"
#include "server/device_pool.h"
#include "server/response.h"
#include "server/rpc.h"

namespace reduction::v1 {
class ReduceRequest;
}

namespace reduction::server {

// Deletes itself when gRPC is done with it.
class UnaryCall final : public grpc::ServerUnaryReactor, public Work {
 public:
  UnaryCall(Rooms& rooms, MethodMetrics& metrics, Operation operation,
            grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
            grpc::ByteBuffer* response);

  void OnCancel() override { control_.Cancel(); }
  void OnDone() override { delete this; }

  size_t staged_bytes() const override;
  void Stage(LaneDriver& driver) override;
  void Complete(LaneDriver& driver) override;

 private:
  ~UnaryCall() override = default;
  void Start(const grpc::ByteBuffer& request);
  std::optional<Refusal> Read(const grpc::ByteBuffer& request);
  // Decodes a message of type Request and validates what does not depend on the data.
  template <class Request>
  std::optional<Refusal> ReadMessage(const grpc::ByteBuffer& buffer, Request* request);
  std::optional<Refusal> ReadSegments(const v1::ReduceRequest& request);
  std::optional<Refusal> Admit(const grpc::ByteBuffer& request);
  // Reduces on this thread, where the array is.
  void ReduceNow();
  void Respond(const kernels::OrderedFold& fold, const ExecutionRecord& execution);
  void Refuse(const Refusal& refusal);

  Rooms& rooms_;
  RpcRecord record_;
  CallControl control_;
  grpc::ByteBuffer* const response_;
  ReductionSpec spec_;
  std::optional<Segments> segments_;
  ByteQueue x_;
  ByteQueue y_;
  std::string offsets_;  // of segments, until they are read
  uint64_t elements_ = 0;
  uint64_t bytes_ = 0;  // of the arrays
  std::optional<Admission::Ticket> ticket_;
  DevicePool* pool_ = nullptr;
  std::optional<DeviceUse> use_;
  std::optional<ArrayReduction> reduction_;
};

}  // namespace reduction::server
