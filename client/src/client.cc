#include "reduction/client.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "client/src/client_state.h"
#include "client/src/retry.h"
#include "client/src/target.h"
#include "client/src/writer_state.h"

namespace reduction {
namespace {

Status InvalidArgument(std::string message, std::string reason) {
  return {StatusCode::kInvalidArgument, std::move(message), std::move(reason), {}};
}

Status MovedFrom() {
  return {StatusCode::kFailedPrecondition, "the object was moved from", "MOVED_FROM", {}};
}

Status CheckLength(std::string_view name, const ArrayView& array) {
  const size_t element_size = ElementSize(array.type);
  if (array.bytes.size() % element_size == 0) return {};
  return InvalidArgument(std::string(name) + " has " + std::to_string(array.bytes.size()) +
                             " bytes, which is no multiple of the " + std::to_string(element_size) +
                             " bytes of a " + std::string(ElementTypeName(array.type)),
                         "PARTIAL_ELEMENT");
}

// What a dot product needs.
Status CheckPair(const ArrayView& x, const ArrayView& y) {
  if (x.type != y.type) {
    return InvalidArgument("x is " + std::string(ElementTypeName(x.type)) + " and y is " +
                               std::string(ElementTypeName(y.type)) +
                               ": a dot product takes two arrays of one type",
                           "TYPES_DIFFER");
  }
  if (x.bytes.size() != y.bytes.size()) {
    return InvalidArgument("x has " + std::to_string(x.bytes.size()) + " bytes and y " +
                               std::to_string(y.bytes.size()) +
                               ": a dot product takes two arrays of one length",
                           "LENGTHS_DIFFER");
  }
  return CheckLength("x", x);
}

// What statistics of one array need.
Status CheckOne(const ArrayView& array, const std::vector<Statistic>& statistics) {
  const Status valid = detail::CheckStatistics(statistics);
  if (!valid.ok()) return valid;
  if (statistics.front() == Statistic::kDot) {
    return InvalidArgument("statistics: dot takes two arrays", "DOT_NEEDS_TWO_ARRAYS");
  }
  return CheckLength("array", array);
}

Status CheckOptions(const ClientOptions& options) {
  constexpr int kMaxConnections = 1024;
  if (options.connections < 1 || options.connections > kMaxConnections) {
    return InvalidArgument("connections is " + std::to_string(options.connections) +
                               ", and must be from 1 to " + std::to_string(kMaxConnections),
                           "BAD_OPTION");
  }
  if (options.retries < 0) return InvalidArgument("retries is negative", "BAD_OPTION");
  return {};
}

Result<std::string> ReadCertificates(const ClientOptions& options) {
  if (!options.tls.has_value() || options.tls->root_certificates.empty()) return std::string();
  std::ifstream file(options.tls->root_certificates, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (!content.empty()) return content;
  return Status{StatusCode::kNotFound,
                "cannot read certificates from \"" + options.tls->root_certificates + "\"",
                "NO_CERTIFICATES",
                {}};
}

}  // namespace

Client::Client(std::shared_ptr<const detail::ClientState> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::Connect(std::string_view targets, const ClientOptions& options) {
  const Status valid = CheckOptions(options);
  if (!valid.ok()) return valid;
  const Result<std::vector<std::string>> parsed = detail::ParseTargets(targets);
  if (!parsed.ok()) return parsed.status();
  const Result<std::string> certificates = ReadCertificates(options);
  if (!certificates.ok()) return certificates.status();
  return Client(std::make_shared<const detail::ClientState>(*parsed, options, *certificates));
}

Result<Reduction> Client::Dot(const ArrayView& x, const ArrayView& y,
                              const ReduceOptions& options) const {
  if (state_ == nullptr) return MovedFrom();
  const Status valid = CheckPair(x, y);
  if (!valid.ok()) return valid;
  return state_->Reduce({x.type, {Statistic::kDot}, options, {}}, {x.bytes, y.bytes});
}

Result<SegmentedReduction> Client::DotSegments(const ArrayView& x, const ArrayView& y,
                                               const Segmentation& segments,
                                               const ReduceOptions& options) const {
  if (state_ == nullptr) return MovedFrom();
  const Status valid = CheckPair(x, y);
  if (!valid.ok()) return valid;
  return state_->ReduceSegments({x.type, {Statistic::kDot}, options, segments}, {x.bytes, y.bytes});
}

Result<Reduction> Client::Reduce(const ArrayView& array, const std::vector<Statistic>& statistics,
                                 const ReduceOptions& options) const {
  if (state_ == nullptr) return MovedFrom();
  const Status valid = CheckOne(array, statistics);
  if (!valid.ok()) return valid;
  return state_->Reduce({array.type, statistics, options, {}}, {array.bytes, {}});
}

Result<SegmentedReduction> Client::ReduceSegments(const ArrayView& array,
                                                  const Segmentation& segments,
                                                  const std::vector<Statistic>& statistics,
                                                  const ReduceOptions& options) const {
  if (state_ == nullptr) return MovedFrom();
  const Status valid = CheckOne(array, statistics);
  if (!valid.ok()) return valid;
  return state_->ReduceSegments({array.type, statistics, options, segments}, {array.bytes, {}});
}

Result<std::unique_ptr<detail::WriterState>> Client::OpenWriter(
    detail::Request request, std::optional<uint64_t> element_count) const {
  if (state_ == nullptr) return MovedFrom();
  const Status valid = detail::CheckStatistics(request.statistics);
  if (!valid.ok()) return valid;
  const detail::ClientState::Route route = state_->NextRoute();
  const detail::Deadline deadline = state_->StreamDeadline(request.options);
  const Result<uint64_t> message_bytes = state_->MessageBytes(*route.target, deadline);
  if (!message_bytes.ok()) return message_bytes.status();
  return std::make_unique<detail::WriterState>(state_, route, std::move(request), element_count,
                                               *message_bytes, deadline);
}

Result<ReduceStream> Client::OpenStream(ElementType type, const std::vector<Statistic>& statistics,
                                        const ReduceOptions& options,
                                        std::optional<uint64_t> element_count) const {
  auto writer = OpenWriter({type, statistics, options, {}}, element_count);
  if (!writer.ok()) return writer.status();
  return ReduceStream(*std::move(writer));
}

Result<SegmentStream> Client::OpenSegmentStream(ElementType type, const Segmentation& segments,
                                                const std::vector<Statistic>& statistics,
                                                const ReduceOptions& options,
                                                std::optional<uint64_t> element_count) const {
  const auto* offsets = std::get_if<std::span<const uint64_t>>(&segments);
  if (offsets != nullptr && offsets->empty()) {
    return InvalidArgument("segments: there are no offsets", "BAD_SEGMENTS");
  }
  auto writer = OpenWriter({type, statistics, options, segments}, element_count);
  if (!writer.ok()) return writer.status();
  return SegmentStream(*std::move(writer));
}

Result<std::vector<ServerInfo>> Client::Info() const {
  if (state_ == nullptr) return MovedFrom();
  const detail::Deadline deadline = detail::DeadlineAfter(state_->options().timeout);
  std::vector<ServerInfo> infos;
  for (const auto& target : state_->targets()) {
    target->ForgetInfo();
    Result<ServerInfo> info = target->Info(state_->options().retries, deadline);
    if (!info.ok()) return info.status();
    infos.push_back(*std::move(info));
  }
  return infos;
}

Result<bool> Client::Serving() const {
  if (state_ == nullptr) return MovedFrom();
  const detail::Deadline deadline = detail::DeadlineAfter(state_->options().timeout);
  bool all_serve = true;
  for (const auto& target : state_->targets()) {
    std::string response;
    // Not repeated: who asks wants to know how it is now.
    const Status status = target->Call(0, detail::kHealthCheckMethod, detail::EncodeHealthCheck(),
                                       0, deadline, &response);
    if (!status.ok()) return status;
    const Result<bool> serving = detail::DecodeHealthCheck(response);
    if (!serving.ok()) return serving;
    all_serve = all_serve && *serving;
  }
  return all_serve;
}

ArrayWriter::ArrayWriter(std::unique_ptr<detail::WriterState> state) : state_(std::move(state)) {}
ArrayWriter::ArrayWriter(ArrayWriter&&) noexcept = default;
ArrayWriter& ArrayWriter::operator=(ArrayWriter&&) noexcept = default;
ArrayWriter::~ArrayWriter() = default;

Status ArrayWriter::Write(std::span<const std::byte> bytes) {
  if (state_ == nullptr) return MovedFrom();
  if (state_->is_dot()) {
    return state_->Refuse(InvalidArgument("a dot product takes two arrays", "LENGTHS_DIFFER"));
  }
  return state_->Write(bytes, {});
}

Status ArrayWriter::Write(std::span<const std::byte> x, std::span<const std::byte> y) {
  if (state_ == nullptr) return MovedFrom();
  if (!state_->is_dot() || x.size() != y.size()) {
    return state_->Refuse(InvalidArgument("two arrays of one length are for a dot product: got " +
                                              std::to_string(x.size()) + " and " +
                                              std::to_string(y.size()) + " bytes",
                                          "LENGTHS_DIFFER"));
  }
  return state_->Write(x, y);
}

Status ArrayWriter::WriteTyped(const ArrayView& view) {
  if (state_ == nullptr) return MovedFrom();
  if (view.type != state_->type()) {
    return state_->Refuse(InvalidArgument("the stream carries " +
                                              std::string(ElementTypeName(state_->type())) +
                                              ", not " + std::string(ElementTypeName(view.type)),
                                          "TYPES_DIFFER"));
  }
  return Write(view.bytes);
}

Result<Reduction> ReduceStream::Finish() {
  if (state_ == nullptr) return MovedFrom();
  return state_->Finish();
}

Result<SegmentedReduction> SegmentStream::Finish() {
  if (state_ == nullptr) return MovedFrom();
  return state_->FinishSegments();
}

}  // namespace reduction
