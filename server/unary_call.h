// Sum, Max, Min, Dot and Reduce: one message, one array.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <optional>

#include "server/array_reduction.h"
#include "server/device_pool.h"
#include "server/response.h"
#include "server/rpc.h"

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
  std::optional<Refusal> Admit(const grpc::ByteBuffer& request);
  // Reduces on this thread, where the array is.
  void ReduceNow();
  void Respond(const kernels::OrderedFold& fold, const ExecutionRecord& execution);
  void Refuse(const Refusal& refusal);
  uint64_t array_bytes() const { return x_.size() + y_.size(); }

  Rooms& rooms_;
  RpcRecord record_;
  CallControl control_;
  grpc::ByteBuffer* const response_;
  ReductionSpec spec_;
  ByteQueue x_;
  ByteQueue y_;
  uint64_t elements_ = 0;
  uint64_t bytes_ = 0;
  std::optional<Admission::Ticket> ticket_;
  DevicePool* pool_ = nullptr;
  std::optional<DeviceUse> use_;
  std::optional<ArrayReduction> reduction_;
};

}  // namespace reduction::server
