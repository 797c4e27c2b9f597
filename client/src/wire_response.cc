#include <google/protobuf/wrappers.pb.h>

#include <algorithm>
#include <cstring>
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

// Bytes of each array that a result is about. Its count tells, but for NaNs that were ignored.
template <class Reduced>
uint64_t ReducedBytes(const Request& request, const Reduced& reduction) {
  if (request.options.nan_policy != NanPolicy::kIgnore) {
    return reduction.count * ElementSize(request.type);
  }
  uint64_t bytes = 0;
  for (const Execution& execution : reduction.executions) bytes += execution.bytes;
  return request.is_dot() ? bytes / 2 : bytes;
}

// OK when `reduction` is about all of `array_bytes`.
template <class Reduced>
Status CheckComplete(const Request& request, uint64_t array_bytes, const Reduced& reduction) {
  const uint64_t reduced = ReducedBytes(request, reduction);
  if (reduced == array_bytes) return {};
  return {StatusCode::kDataLoss,
          "the server reduced " + std::to_string(reduced) + " bytes of an array of " +
              std::to_string(array_bytes) + ": the rest was lost on the way; send the array again",
          "INCOMPLETE",
          {}};
}

// Packed little-endian numbers of eight bytes.
template <class T>
std::vector<T> Unpack(const std::string& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

// False when it does not hold `segments` values.
bool ToColumn(const v1::Column& proto, uint64_t segments, Column* column) {
  const std::string* packed = nullptr;
  switch (proto.values_case()) {
    case v1::Column::kFloat64:
      column->values = Unpack<double>(*(packed = &proto.float64()));
      break;
    case v1::Column::kInt64:
      column->values = Unpack<int64_t>(*(packed = &proto.int64()));
      break;
    case v1::Column::kUint64:
      column->values = Unpack<uint64_t>(*(packed = &proto.uint64()));
      break;
    case v1::Column::VALUES_NOT_SET:
      return false;
  }
  column->statistic = static_cast<Statistic>(proto.statistic());
  column->validity.assign(proto.validity().begin(), proto.validity().end());
  const uint64_t bitmap_bytes = (segments + 7) / 8;
  return packed->size() == segments * sizeof(uint64_t) &&
         (column->validity.empty() || column->validity.size() == bitmap_bytes);
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
  const Status complete = CheckComplete(request, array_bytes, *reduction);
  if (!complete.ok()) return complete;
  return reduction;
}

Result<SegmentedReduction> DecodeSegments(const Request& request, uint64_t array_bytes,
                                          uint64_t segments, std::string_view response) {
  v1::ReduceResponse proto;
  if (!Parse(response, &proto)) return Malformed("is no ReduceResponse");
  SegmentedReduction reduction;
  reduction.count = proto.count();
  reduction.executions = ToExecutions(proto);
  const Status complete = CheckComplete(request, array_bytes, reduction);
  if (!complete.ok()) return complete;
  if (static_cast<size_t>(proto.columns_size()) != request.statistics.size()) {
    return Malformed("does not hold one column a statistic");
  }
  reduction.columns.resize(request.statistics.size());
  for (int i = 0; i < proto.columns_size(); ++i) {
    if (proto.columns(i).statistic() != static_cast<int>(request.statistics[i]) ||
        !ToColumn(proto.columns(i), segments, &reduction.columns[i])) {
      return Malformed("holds a column that was not asked for");
    }
    proto.mutable_columns(i)->Clear();
  }
  reduction.counts = Unpack<uint64_t>(proto.segment_counts());
  if (reduction.counts.size() != segments) return Malformed("does not hold one count a segment");
  return reduction;
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
