#include "server/service.h"

#include "kernels/fixed_order.h"
#include "reduction/v1/reduction.grpc.pb.h"
#include "server/stream_call.h"
#include "server/unary_call.h"
#include "server/version.h"

namespace reduction::server {
namespace {

using Sum = v1::Reduction::WithRawCallbackMethod_Sum<v1::Reduction::Service>;
using Max = v1::Reduction::WithRawCallbackMethod_Max<Sum>;
using Min = v1::Reduction::WithRawCallbackMethod_Min<Max>;
using Dot = v1::Reduction::WithRawCallbackMethod_Dot<Min>;
using Reduce = v1::Reduction::WithRawCallbackMethod_Reduce<Dot>;
using Stream = v1::Reduction::WithRawCallbackMethod_ReduceStream<Reduce>;
using Base = v1::Reduction::WithCallbackMethod_GetServerInfo<Stream>;

class Service final : public Base {
 public:
  Service(Rooms rooms, const Options& options, const std::string& instance_id)
      : rooms_(rooms),
        sum_(AddMethod("unary", "Sum")),
        max_(AddMethod("unary", "Max")),
        min_(AddMethod("unary", "Min")),
        dot_(AddMethod("unary", "Dot")),
        reduce_(AddMethod("unary", "Reduce")),
        reduce_stream_(AddMethod("client_stream", "ReduceStream")),
        get_server_info_(AddMethod("unary", "GetServerInfo")) {
    info_.set_version(kVersion);
    info_.set_instance_id(instance_id);
    info_.set_order_version(kernels::kOrderVersion);
    info_.set_leaf_bytes(kernels::kLeafBytes);
    for (const auto& pool : rooms_.engine.pools()) {
      auto* device = info_.add_devices();
      device->set_device(pool->info().label);
      device->set_name(pool->info().name);
      device->set_memory_bytes(pool->info().memory_bytes);
      device->set_lanes(static_cast<uint32_t>(pool->lane_count()));
    }
    const AdmissionLimits& limits = rooms_.admission.limits();
    info_.mutable_limits()->set_max_message_bytes(limits.max_message_bytes);
    info_.mutable_limits()->set_memory_limit_bytes(limits.memory_limit_bytes);
    info_.mutable_limits()->set_max_streams(limits.max_streams());
    info_.mutable_limits()->set_max_queued_calls(limits.max_queued_calls);
    info_.mutable_limits()->set_min_stream_bytes_per_second(options.min_stream_rate);
    for (const kernels::ElementType type : kernels::kAllElementTypes) {
      info_.add_element_types(static_cast<v1::ElementType>(type));
    }
    for (const kernels::Statistic statistic : kernels::kAllStatistics) {
      info_.add_statistics(static_cast<v1::Statistic>(statistic));
    }
  }

  grpc::ServerUnaryReactor* Sum(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* response) override {
    return new UnaryCall(rooms_, sum_, Operation::kSum, context, request, response);
  }
  grpc::ServerUnaryReactor* Max(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* response) override {
    return new UnaryCall(rooms_, max_, Operation::kMax, context, request, response);
  }
  grpc::ServerUnaryReactor* Min(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* response) override {
    return new UnaryCall(rooms_, min_, Operation::kMin, context, request, response);
  }
  grpc::ServerUnaryReactor* Dot(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* response) override {
    return new UnaryCall(rooms_, dot_, Operation::kDot, context, request, response);
  }
  grpc::ServerUnaryReactor* Reduce(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override {
    return new UnaryCall(rooms_, reduce_, Operation::kReduce, context, request, response);
  }
  grpc::ServerReadReactor<grpc::ByteBuffer>* ReduceStream(grpc::CallbackServerContext* context,
                                                          grpc::ByteBuffer* response) override {
    return new StreamCall(rooms_, reduce_stream_, context, response);
  }
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest*,
                                          v1::GetServerInfoResponse* response) override {
    RpcRecord record(get_server_info_, rooms_.calls);
    *response = info_;
    auto* reactor = context->DefaultReactor();
    reactor->Finish(record.Ended(grpc::Status::OK));
    return reactor;
  }

 private:
  MethodMetrics& AddMethod(const char* type, const char* method) {
    return *rooms_.metrics.AddMethod({type, v1::Reduction::service_full_name(), method});
  }

  Rooms rooms_;
  MethodMetrics& sum_;
  MethodMetrics& max_;
  MethodMetrics& min_;
  MethodMetrics& dot_;
  MethodMetrics& reduce_;
  MethodMetrics& reduce_stream_;
  MethodMetrics& get_server_info_;
  v1::GetServerInfoResponse info_;
};

}  // namespace

std::unique_ptr<grpc::Service> CreateService(Rooms rooms, const Options& options,
                                             const std::string& instance_id) {
  return std::make_unique<Service>(rooms, options, instance_id);
}

}  // namespace reduction::server
