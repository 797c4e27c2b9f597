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

std::string BytesHeader(uint32_t field, size_t length) {
  std::string header;
  AppendBytesHeader(field, length, &header);
  return header;
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

template <class Proto>
void SetSegmentLength(const Request& request, Proto* proto) {
  if (!request.segments) return;
  v1::Segments* segments = proto->mutable_segments();
  if (const auto* length = std::get_if<SegmentLength>(&*request.segments)) {
    segments->set_length(length->elements);
  }
}

constexpr std::string_view kReduceMethod = "/reduction.v1.Reduction/Reduce";

std::string_view UnaryMethod(const Request& request) {
  if (request.statistics.size() != 1 || request.segments) return kReduceMethod;
  switch (request.statistics[0]) {
    case Statistic::kSum:
      return "/reduction.v1.Reduction/Sum";
    case Statistic::kMin:
      return "/reduction.v1.Reduction/Min";
    case Statistic::kMax:
      return "/reduction.v1.Reduction/Max";
    case Statistic::kDot:
      return "/reduction.v1.Reduction/Dot";
    default:
      return kReduceMethod;
  }
}

}  // namespace

bool UsesReduce(const Request& request) { return UnaryMethod(request) == kReduceMethod; }

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

Result<uint64_t> CountSegments(const Segmentation& segments, uint64_t elements) {
  std::string what;
  if (const auto* length = std::get_if<SegmentLength>(&segments)) {
    if (length->elements != 0 && elements % length->elements == 0) {
      return elements / length->elements;
    }
    what = "a length of " + std::to_string(length->elements);
  } else {
    const auto offsets = std::get<std::span<const uint64_t>>(segments);
    if (!offsets.empty() && offsets.front() == 0 && offsets.back() == elements) {
      return offsets.size() - 1;
    }
    what = offsets.empty() ? "no offsets"
                           : "offsets from " + std::to_string(offsets.front()) + " to " +
                                 std::to_string(offsets.back());
  }
  return Status{StatusCode::kInvalidArgument,
                "segments: " + what + " cannot cut an array of " + std::to_string(elements) +
                    " elements; equal lengths must divide it, and offsets go from 0 to its end",
                "BAD_SEGMENTS",
                {}};
}

UnaryRequest EncodeUnary(const Request& request, std::span<const std::byte> x,
                         std::span<const std::byte> y) {
  const std::string_view method = UnaryMethod(request);
  std::string head;
  // The head of ArrayRequest and DotRequest is that of a ReduceRequest without statistics.
  v1::ReduceRequest proto;
  SetCommon(request, &proto);
  if (UsesReduce(request)) SetStatistics(request, &proto);
  SetSegmentLength(request, &proto);
  proto.SerializeToString(&head);
  const auto offsets = std::as_bytes(request.offsets());
  if (offsets.empty()) return {method, WithArrays(std::move(head), x, y, request.is_dot())};
  const std::string offsets_header = BytesHeader(v1::Segments::kOffsetsFieldNumber, offsets.size());
  AppendBytesHeader(v1::ReduceRequest::kSegmentsFieldNumber, offsets_header.size() + offsets.size(),
                    &head);
  return {method, {head + offsets_header, offsets, BytesHeader(kXField, x.size()), x}};
}

Message EncodeStreamHeader(const Request& request, const StreamPart& part,
                           std::optional<uint64_t> element_count, std::span<const std::byte> x,
                           std::span<const std::byte> y) {
  v1::ReduceStreamRequest proto;
  v1::StreamHeader* header = proto.mutable_header();
  SetCommon(request, header);
  SetStatistics(request, header);
  SetSegmentLength(request, header);
  if (part.return_partial) {
    header->mutable_part()->set_first_element(part.first_element);
    header->mutable_part()->set_return_partial(true);
  }
  if (element_count.has_value()) header->set_element_count(*element_count);
  return WithArrays(proto.SerializeAsString(), x, y, request.is_dot());
}

Message EncodeOffsets(std::span<const uint64_t> offsets) {
  const auto bytes = std::as_bytes(offsets);
  return {BytesHeader(v1::ReduceStreamRequest::kSegmentOffsetsFieldNumber, bytes.size()),
          bytes,
          {},
          {}};
}

Message EncodeChunk(uint64_t offset, std::span<const std::byte> x, std::span<const std::byte> y,
                    bool is_dot) {
  v1::ReduceStreamRequest proto;
  proto.set_offset(offset);
  return WithArrays(proto.SerializeAsString(), x, y, is_dot);
}

// HealthCheckRequest is a string in field 1: on the wire the same as this wrapper.
Message EncodeHealthCheck() {
  google::protobuf::StringValue request;
  request.set_value("reduction.v1.Reduction");
  return {request.SerializeAsString(), {}, {}, {}};
}

}  // namespace reduction::detail
