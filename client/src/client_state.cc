#include "client/src/client_state.h"

#include <algorithm>
#include <utility>

#include "client/src/partition.h"
#include "client/src/retry.h"
#include "kernels/fixed_order.h"

namespace reduction::detail {
namespace {

// Every server takes messages of this size: no need to ask for its limit.
constexpr uint64_t kAlwaysOneMessage = 16 << 10;

// Array bytes of one message to this server.
uint64_t MessageLimit(const ServerInfo& info) {
  return std::clamp<uint64_t>(info.max_message_bytes, 1, kMessageBytes);
}

Status CheckOrder(const Target& target, const ServerInfo& info) {
  if (info.order_version == kernels::kOrderVersion && info.leaf_bytes == kernels::kLeafBytes) {
    return {};
  }
  return {StatusCode::kFailedPrecondition,
          target.name() + ": the server has order version " + std::to_string(info.order_version) +
              " with leaves of " + std::to_string(info.leaf_bytes) +
              " bytes, and this client combines parts in order version " +
              std::to_string(kernels::kOrderVersion) + " with leaves of " +
              std::to_string(kernels::kLeafBytes) +
              "; one connection to one server works, because nothing is combined then",
          "ORDER_VERSION",
          {}};
}

}  // namespace

Target::Target(std::string name, const ClientOptions& options, const std::string& root_certificates)
    : name_(std::move(name)) {
  for (int i = 0; i < options.connections; ++i) {
    connections_.push_back(std::make_unique<Connection>(name_, i, options, root_certificates));
  }
}

Status Target::Call(int connection, std::string_view method, const Message& message, int retries,
                    Deadline deadline, std::string* response) const {
  return CallWithRetries(retries, deadline, [&] {
    return connections_[connection]->CallUnary(method, message, deadline, response);
  });
}

Result<ServerInfo> Target::Info(int retries, Deadline deadline) const {
  {
    const std::lock_guard lock(mutex_);
    if (info_.has_value()) return *info_;
  }
  std::string response;
  const Status status = Call(0, kServerInfoMethod, {}, retries, deadline, &response);
  if (!status.ok()) return status;
  Result<ServerInfo> info = DecodeServerInfo(response);
  if (!info.ok()) return info;
  info->target = name_;
  const std::lock_guard lock(mutex_);
  info_ = *info;
  return info;
}

void Target::ForgetInfo() const {
  const std::lock_guard lock(mutex_);
  info_.reset();
}

ClientState::ClientState(const std::vector<std::string>& targets, const ClientOptions& options,
                         const std::string& root_certificates)
    : options_(options) {
  for (const std::string& target : targets) {
    targets_.push_back(std::make_unique<Target>(target, options, root_certificates));
  }
}

ClientState::Route ClientState::NextRoute() const {
  const size_t turn = next_route_.fetch_add(1, std::memory_order_relaxed);
  return {targets_[turn % targets_.size()].get(),
          static_cast<int>(turn / targets_.size() % options_.connections)};
}

Deadline ClientState::UnaryDeadline(const ReduceOptions& options) const {
  return DeadlineAfter(options.timeout.value_or(options_.timeout));
}

Deadline ClientState::StreamDeadline(const ReduceOptions& options) const {
  return DeadlineAfter(options.timeout.value_or(options_.stream_timeout));
}

Result<ServerInfo> ClientState::InfoOf(const Target& target, Deadline deadline) const {
  return target.Info(options_.retries, std::min(deadline, DeadlineAfter(options_.timeout)));
}

Result<uint64_t> ClientState::MessageBytes(const Target& target, Deadline deadline) const {
  const Result<ServerInfo> info = InfoOf(target, deadline);
  if (!info.ok()) return info.status();
  return MessageLimit(*info);
}

Result<Reduction> ClientState::Reduce(const Request& request, const Arrays& arrays) const {
  const Route route = NextRoute();
  const Deadline unary_deadline = UnaryDeadline(request.options);
  const uint64_t total = arrays.total_bytes();
  if (total <= kAlwaysOneMessage) return ReduceUnary(route, request, arrays, unary_deadline);

  const Deadline deadline = StreamDeadline(request.options);
  const Result<uint64_t> message_bytes = MessageBytes(*route.target, deadline);
  if (!message_bytes.ok()) return message_bytes.status();
  if (total <= *message_bytes) return ReduceUnary(route, request, arrays, unary_deadline);

  const size_t connections = targets_.size() * options_.connections;
  const uint64_t part_bytes =
      PartBytes(arrays.x.size(), connections, kernels::kLeafBytes, request.is_dot() ? 2 : 1);
  if (connections > 1 && part_bytes < arrays.x.size()) {
    return ReduceOverAll(request, arrays, part_bytes, deadline);
  }
  return ReduceWhole(route, request, arrays, *message_bytes, deadline);
}

Result<SegmentedReduction> ClientState::ReduceSegments(const Request& request,
                                                       const Arrays& arrays) const {
  const Result<uint64_t> segments =
      CountSegments(*request.segments, arrays.x.size() / ElementSize(request.type));
  if (!segments.ok()) return segments.status();
  const Route route = NextRoute();
  const Deadline deadline = StreamDeadline(request.options);
  const uint64_t total = arrays.total_bytes() + request.offsets().size_bytes();
  uint64_t message_bytes = kAlwaysOneMessage;
  if (total > message_bytes || request.is_dot()) {
    const Result<uint64_t> limit = MessageBytes(*route.target, deadline);
    if (!limit.ok()) return limit.status();
    message_bytes = *limit;
  }
  std::string response;
  const Status status =
      total <= message_bytes && !request.is_dot()
          ? CallUnary(route, request, arrays, UnaryDeadline(request.options), &response)
          : CallStream(route, request, arrays, message_bytes, deadline, &response);
  if (!status.ok()) return status;
  return DecodeSegments(request, arrays.x.size(), *segments, response);
}

Status ClientState::CallUnary(const Route& route, const Request& request, const Arrays& arrays,
                              Deadline deadline, std::string* response) const {
  const UnaryRequest unary = EncodeUnary(request, arrays.x, arrays.y);
  const Status status = route.target->Call(route.connection, unary.method, unary.message,
                                           options_.retries, deadline, response);
  if (!status.ok()) route.target->ForgetInfo();
  return status;
}

Status ClientState::CallStream(const Route& route, const Request& request, const Arrays& arrays,
                               uint64_t message_bytes, Deadline deadline,
                               std::string* response) const {
  Progress progress(request.options.progress, arrays.total_bytes());
  const std::unique_ptr<StreamCall> call =
      route.target->connection(route.connection).OpenStream(kReduceStreamMethod, deadline);
  Status status = SendArrays(
      call.get(), request, {}, arrays, message_bytes,
      [&](uint64_t bytes) {
        progress.Add(bytes);
        progress.Report();
      },
      response);
  if (!status.ok()) route.target->ForgetInfo();
  return status;
}

Result<Reduction> ClientState::ReduceUnary(const Route& route, const Request& request,
                                           const Arrays& arrays, Deadline deadline) const {
  std::string response;
  const Status status = CallUnary(route, request, arrays, deadline, &response);
  if (!status.ok()) return status;
  return DecodeUnary(request, response);
}

Result<Reduction> ClientState::ReduceWhole(const Route& route, const Request& request,
                                           const Arrays& arrays, uint64_t message_bytes,
                                           Deadline deadline) const {
  std::string response;
  const Status status = CallStream(route, request, arrays, message_bytes, deadline, &response);
  if (!status.ok()) return status;
  return DecodeStream(request, arrays.x.size(), response);
}

Result<Reduction> ClientState::ReduceOverAll(const Request& request, const Arrays& arrays,
                                             uint64_t part_bytes, Deadline deadline) const {
  uint64_t message_bytes = kMessageBytes;
  std::vector<const Connection*> connections;
  for (const auto& target : targets_) {
    const Result<ServerInfo> info = InfoOf(*target, deadline);
    if (!info.ok()) return info.status();
    message_bytes = std::min(message_bytes, MessageLimit(*info));
    const Status order = CheckOrder(*target, *info);
    if (!order.ok()) return order;
    uint64_t streams = options_.connections;
    if (info->max_streams > 0) streams = std::min(streams, info->max_streams);
    for (uint64_t i = 0; i < streams; ++i) {
      connections.push_back(&target->connection(static_cast<int>(i)));
    }
  }
  Result<Reduction> result =
      ReduceInParts(connections, request, arrays, part_bytes, message_bytes, deadline);
  if (!result.ok()) {
    for (const auto& target : targets_) target->ForgetInfo();
  }
  return result;
}

}  // namespace reduction::detail
