#include "client/src/wire.h"

#include <google/protobuf/wrappers.pb.h>

#include <algorithm>

#include "kernels/statistics.h"
#include "reduction/v1/reduction.pb.h"

namespace reduction::detail {
namespace {

// All data fields have these numbers.
constexpr uint32_t kXField = v1::ArrayRequest::kInlineFieldNumber;
constexpr uint32_t kYField = v1::DotRequest::kYInlineFieldNumber;
static_assert(v1::ReduceRequest::kInlineFieldNumber == kXField);
static_assert(v1::DotRequest::kXInlineFieldNumber == kXField);
static_assert(v1::ReduceStreamRequest::kXFieldNumber == kXField);
static_assert(v1::ReduceStreamRequest::kYFieldNumber == kYField);

static_assert(static_cast<int>(ElementType::kUint64) == v1::ELEMENT_TYPE_UINT64);
static_assert(static_cast<int>(Statistic::kDot) == v1::STATISTIC_DOT);
static_assert(static_cast<int>(Algorithm::kAtomic) == v1::ALGORITHM_ATOMIC);
static_assert(static_cast<int>(NanPolicy::kIgnore) == v1::NAN_POLICY_IGNORE);
static_assert(static_cast<int>(OverflowPolicy::kCheck) == v1::OVERFLOW_POLICY_CHECK);
static_assert(static_cast<int>(Device::Kind::kCpu) == v1::Device::KIND_CPU);

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// Tag and length of a `bytes` field.
void AppendBytesHeader(uint32_t field, size_t length, std::string* out) {
  constexpr uint32_t kLengthDelimited = 2;
  AppendVarint((field << 3) | kLengthDelimited, out);
  AppendVarint(length, out);
}

Message WithArrays(std::string head, std::span<const std::byte> x, std::span<const std::byte> y,
                   bool is_dot) {
  Message message{std::move(head), x, {}, y};
  AppendBytesHeader(kXField, x.size(), &message.head);
  if (is_dot) AppendBytesHeader(kYField, y.size(), &message.middle);
  return message;
}

// The fields that all requests share, under the same names.
template <class Proto>
void SetCommon(const Request& request, Proto* proto) {
  proto->set_element_type(static_cast<v1::ElementType>(request.type));
  v1::Options* options = proto->mutable_options();
  options->set_algorithm(static_cast<v1::Algorithm>(request.options.algorithm));
  options->set_nan_policy(static_cast<v1::NanPolicy>(request.options.nan_policy));
  options->set_overflow(static_cast<v1::OverflowPolicy>(request.options.overflow));
  options->set_ddof(request.options.ddof);
  const Device& device = request.options.device;
  options->mutable_device()->set_kind(static_cast<v1::Device::Kind>(device.kind));
  if (device.ordinal.has_value()) options->mutable_device()->set_ordinal(*device.ordinal);
}

template <class Proto>
void SetStatistics(const Request& request, Proto* proto) {
  for (const Statistic statistic : request.statistics) {
    proto->add_statistics(static_cast<v1::Statistic>(statistic));
  }
}

// The method that serves `statistic` alone; empty when only Reduce does.
std::string_view SingleMethod(Statistic statistic) {
  switch (statistic) {
    case Statistic::kSum:
      return "/reduction.v1.Reduction/Sum";
    case Statistic::kMin:
      return "/reduction.v1.Reduction/Min";
    case Statistic::kMax:
      return "/reduction.v1.Reduction/Max";
    case Statistic::kDot:
      return "/reduction.v1.Reduction/Dot";
    default:
      return {};
  }
}

std::string_view UnaryMethod(const Request& request) {
  std::string_view method;
  if (request.statistics.size() == 1) method = SingleMethod(request.statistics[0]);
  return method.empty() ? "/reduction.v1.Reduction/Reduce" : method;
}

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

bool IsArg(Statistic statistic) {
  return statistic == Statistic::kArgmin || statistic == Statistic::kArgmax;
}

}  // namespace

Status CheckStatistics(const std::vector<Statistic>& statistics) {
  if (statistics.empty()) {
    return {StatusCode::kInvalidArgument,
            "statistics is empty: ask for at least one",
            "NO_STATISTICS",
            {}};
  }
  if (statistics.size() > 1 &&
      std::find(statistics.begin(), statistics.end(), Statistic::kDot) != statistics.end()) {
    return {StatusCode::kInvalidArgument,
            "statistics: dot cannot be asked for together with others",
            "DOT_NEEDS_TWO_ARRAYS",
            {}};
  }
  return {};
}

UnaryRequest EncodeUnary(const Request& request, std::span<const std::byte> x,
                         std::span<const std::byte> y) {
  const std::string_view method = UnaryMethod(request);
  std::string head;
  // The head of ArrayRequest and DotRequest is that of a ReduceRequest without statistics.
  v1::ReduceRequest proto;
  SetCommon(request, &proto);
  if (request.statistics.size() != 1 || SingleMethod(request.statistics[0]).empty()) {
    SetStatistics(request, &proto);
  }
  proto.SerializeToString(&head);
  return {method, WithArrays(std::move(head), x, y, request.is_dot())};
}

Message EncodeStreamHeader(const Request& request, const StreamPart& part,
                           std::optional<uint64_t> element_count, std::span<const std::byte> x,
                           std::span<const std::byte> y) {
  v1::ReduceStreamRequest proto;
  v1::StreamHeader* header = proto.mutable_header();
  SetCommon(request, header);
  SetStatistics(request, header);
  if (part.return_partial) {
    header->mutable_part()->set_first_element(part.first_element);
    header->mutable_part()->set_return_partial(true);
  }
  if (element_count.has_value()) header->set_element_count(*element_count);
  return WithArrays(proto.SerializeAsString(), x, y, request.is_dot());
}

Message EncodeChunk(uint64_t offset, std::span<const std::byte> x, std::span<const std::byte> y,
                    bool is_dot) {
  v1::ReduceStreamRequest proto;
  proto.set_offset(offset);
  return WithArrays(proto.SerializeAsString(), x, y, is_dot);
}

Result<Reduction> DecodeStream(const Request& request, std::string_view response) {
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

Result<Reduction> DecodeUnary(const Request& request, std::string_view response) {
  if (request.statistics.size() != 1 || SingleMethod(request.statistics[0]).empty()) {
    return DecodeStream(request, response);
  }
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

// HealthCheckRequest and HealthCheckResponse are a string and an enum in field 1: on the wire the
// same as these wrappers.
Message EncodeHealthCheck() {
  google::protobuf::StringValue request;
  request.set_value("reduction.v1.Reduction");
  return {request.SerializeAsString(), {}, {}, {}};
}

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
