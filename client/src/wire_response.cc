#include <google/protobuf/wrappers.pb.h>

#include <algorithm>
#include <utility>

#include "client/src/wire.h"
#include "reduction/v1/reduction.pb.h"

namespace reduction::detail {
namespace {

Status Malformed(std::string_view what) {
  return {StatusCode::kInternal, "the server's answer " + std::string(what), "BAD_RESPONSE", {}};
}

template <class Proto>
bool Parse(std::string_view bytes, Proto* proto) {
  return proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Value ToValue(const v1::Value& value) {
  switch (value.kind_case()) {
    case v1::Value::kFloat64:
      return value.float64();
    case v1::Value::kInt64:
      return value.int64();
    case v1::Value::kUint64:
      return value.uint64();
    case v1::Value::KIND_NOT_SET:
      break;
  }
  return {};
}

template <class Proto>
std::vector<Execution> ToExecutions(const Proto& response) {
  std::vector<Execution> executions;
  for (const v1::Execution& execution : response.execution()) {
    executions.push_back({execution.device(), static_cast<Algorithm>(execution.algorithm()),
                          execution.bytes(), std::chrono::nanoseconds(execution.queued_nanos()),
                          std::chrono::nanoseconds(execution.receive_nanos()),
                          std::chrono::nanoseconds(execution.copy_nanos()),
                          std::chrono::nanoseconds(execution.kernel_nanos())});
  }
  return MergeExecutions(executions);
}

// Bytes of each array that `reduction` is about. Its count tells, but for NaNs that were ignored.
uint64_t ReducedBytes(const Request& request, const Reduction& reduction) {
  if (request.options.nan_policy != NanPolicy::kIgnore) {
    return reduction.count * ElementSize(request.type);
  }
  uint64_t bytes = 0;
  for (const Execution& execution : reduction.executions) bytes += execution.bytes;
  return request.is_dot() ? bytes / 2 : bytes;
}

bool IsArg(Statistic statistic) {
  return statistic == Statistic::kArgmin || statistic == Statistic::kArgmax;
}

Result<Reduction> DecodeReduce(const Request& request, std::string_view response) {
  v1::ReduceResponse proto;
  if (!Parse(response, &proto)) return Malformed("is no ReduceResponse");
  if (static_cast<size_t>(proto.values_size()) != request.statistics.size()) {
    return Malformed("does not hold one value a statistic");
  }
  Reduction reduction;
  for (int i = 0; i < proto.values_size(); ++i) {
    const Statistic statistic = request.statistics[i];
    if (proto.values(i).statistic() != static_cast<int>(statistic)) {
      return Malformed("holds a statistic that was not asked for");
    }
    const Value value = ToValue(proto.values(i).value());
    if (std::holds_alternative<std::monostate>(value) && !IsArg(statistic)) {
      return Malformed("lacks a value");
    }
    reduction.values.push_back({statistic, value});
  }
  reduction.count = proto.count();
  reduction.executions = ToExecutions(proto);
  return reduction;
}

}  // namespace

Result<Reduction> DecodeStream(const Request& request, uint64_t array_bytes,
                               std::string_view response) {
  Result<Reduction> reduction = DecodeReduce(request, response);
  if (!reduction.ok()) return reduction;
  const uint64_t reduced = ReducedBytes(request, *reduction);
  if (reduced == array_bytes) return reduction;
  return Status{StatusCode::kDataLoss,
                "the server reduced " + std::to_string(reduced) + " bytes of an array of " +
                    std::to_string(array_bytes) +
                    ": the rest was lost on the way; send the array again",
                "INCOMPLETE",
                {}};
}

Result<Reduction> DecodeUnary(const Request& request, std::string_view response) {
  if (UsesReduce(request)) return DecodeReduce(request, response);
  v1::ValueResponse proto;
  if (!Parse(response, &proto)) return Malformed("is no ValueResponse");
  const Value value = ToValue(proto.value());
  if (std::holds_alternative<std::monostate>(value)) return Malformed("lacks a value");
  return Reduction{{{request.statistics[0], value}}, proto.count(), ToExecutions(proto)};
}

Result<PartialResponse> DecodePartialResponse(std::string_view response) {
  v1::ReduceResponse proto;
  if (!Parse(response, &proto)) return Malformed("is no ReduceResponse");
  return PartialResponse{std::move(*proto.mutable_partial()), ToExecutions(proto)};
}

Result<ServerInfo> DecodeServerInfo(std::string_view response) {
  v1::GetServerInfoResponse proto;
  if (!Parse(response, &proto)) return Malformed("is no GetServerInfoResponse");
  ServerInfo info;
  info.version = proto.version();
  info.instance_id = proto.instance_id();
  info.order_version = proto.order_version();
  info.leaf_bytes = proto.leaf_bytes();
  for (const auto& device : proto.devices()) {
    info.devices.push_back({device.device(), device.name(), device.memory_bytes(), device.lanes()});
  }
  info.max_message_bytes = proto.limits().max_message_bytes();
  info.memory_limit_bytes = proto.limits().memory_limit_bytes();
  info.max_streams = proto.limits().max_streams();
  info.max_queued_calls = proto.limits().max_queued_calls();
  info.min_stream_bytes_per_second = proto.limits().min_stream_bytes_per_second();
  // A newer server may know more than this client: what has no name here is left out.
  for (const int type : proto.element_types()) {
    if (v1::ElementType_IsValid(type) && type != 0) {
      info.element_types.push_back(static_cast<ElementType>(type));
    }
  }
  for (const int statistic : proto.statistics()) {
    if (v1::Statistic_IsValid(statistic) && statistic != 0) {
      info.statistics.push_back(static_cast<Statistic>(statistic));
    }
  }
  return info;
}

// HealthCheckResponse is an enum in field 1: on the wire the same as this wrapper.
Result<bool> DecodeHealthCheck(std::string_view response) {
  constexpr int kServing = 1;
  google::protobuf::Int32Value status;
  if (!Parse(response, &status)) return Malformed("is no HealthCheckResponse");
  return status.value() == kServing;
}

std::vector<Execution> MergeExecutions(const std::vector<Execution>& executions) {
  std::vector<Execution> merged;
  for (const Execution& execution : executions) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Execution& other) {
      return other.device == execution.device && other.algorithm == execution.algorithm;
    });
    if (same == merged.end()) {
      merged.push_back(execution);
      continue;
    }
    same->bytes += execution.bytes;
    same->queued += execution.queued;
    same->receive += execution.receive;
    same->copy += execution.copy;
    same->kernel += execution.kernel;
  }
  return merged;
}

}  // namespace reduction::detail
