// What a stream's messages bring: the header, offsets of segments, data.
#include <string>
#include <vector>

#include "reduction/v1/reduction.pb.h"
#include "server/codec.h"
#include "server/stream_call.h"

namespace reduction::server {
namespace {

// Segments.offsets in the header of a ReduceStreamRequest.
constexpr int kOffsetsPath[] = {v1::ReduceStreamRequest::kHeaderFieldNumber,
                                v1::StreamHeader::kSegmentsFieldNumber,
                                v1::Segments::kOffsetsFieldNumber};
constexpr DataFields kFields{kYField, kOffsetsPath,
                             v1::ReduceStreamRequest::kSegmentOffsetsFieldNumber};

// Names the field at fault from the message that the header is in.
std::optional<Refusal> InHeader(std::optional<Refusal> refusal) {
  if (refusal && refusal->field != "x") refusal->field.insert(0, "header.");
  return refusal;
}

}  // namespace

std::optional<Refusal> StreamCall::Receive() {
  rooms_.metrics.CountReceived(Source::kStream, message_.Length());
  window_bytes_ += message_.Length();
  v1::ReduceStreamRequest message;
  MessageData data;
  if (auto refusal = Decode(message_, kFields, &message, &data)) return refusal;
  ByteQueue& x = data.x;
  ByteQueue& y = data.y;
  message_.Clear();
  if (message.has_header() == reduction_.has_value()) {
    return reduction_ ? Invalid("SECOND_HEADER", "header",
                                "Only the first message of a stream may have a header.")
                      : Invalid("NO_HEADER", "header",
                                "The first message of a stream must have a header.");
  }
  if (!reduction_) {
    if (auto refusal = ReadHeader(message)) return refusal;
  }
  const uint64_t data_bytes = x.size() + y.size() + data.offsets.size();
  if (auto refusal = rooms_.admission.CheckMessage(data_bytes)) return refusal;
  if (auto refusal = ReadSegments(message, data.offsets)) return refusal;
  if (message.offset() != received_bytes_) {
    return Invalid("OFFSET_GAP", "offset",
                   "offset is " + std::to_string(message.offset()) + ", and " +
                       std::to_string(received_bytes_) +
                       " bytes came before this chunk; send chunks in order, without gap or "
                       "overlap.");
  }
  if (spec_.is_dot()) {
    if (auto refusal = CheckSameLength(x.size(), y.size(), "y")) return refusal;
  } else if (y.size() > 0) {
    return Invalid("UNEXPECTED_Y", "y",
                   "y has " + std::to_string(y.size()) +
                       " bytes, and only a stream whose statistics are DOT has a second array.");
  }
  received_bytes_ += x.size();
  if (announced_elements_ && received_bytes_ > *announced_elements_ * spec_.element_size()) {
    return CheckLength();
  }
  if (segments_ && x.size() > 0) {
    if (auto refusal = CloseSegments()) return refusal;
    if (auto refusal = segments_->CheckReceived(received_bytes_ / spec_.element_size())) {
      return refusal;
    }
  }
  waiting_x_.Append(std::move(x));
  waiting_y_.Append(std::move(y));
  ++waiting_messages_;
  return std::nullopt;
}

std::optional<Refusal> StreamCall::ReadHeader(const v1::ReduceStreamRequest& message) {
  const v1::StreamHeader& header = message.header();
  const std::vector<int> statistics(header.statistics().begin(), header.statistics().end());
  const bool is_dot = statistics == std::vector<int>{v1::STATISTIC_DOT};
  if (auto refusal =
          InHeader(MakeSpec(is_dot ? Operation::kDot : Operation::kReduce, header.element_type(),
                            header.options(), header.part(), statistics, &spec_))) {
    return refusal;
  }
  spec_.streamed = true;
  if (header.has_element_count()) {
    announced_elements_ = header.element_count();
    uint64_t elements = 0;
    if (header.element_count() > UINT64_MAX / spec_.element_size()) {
      return Invalid("PART_OUT_OF_RANGE", "header.element_count",
                     "header.element_count is " + std::to_string(header.element_count()) +
                         ", more than 2^64 bytes; announce what you will send.");
    }
    if (auto refusal = InHeader(CountElements(spec_, header.element_count() * spec_.element_size(),
                                              "element_count", &elements))) {
      return refusal;
    }
  }
  if (auto refusal = rooms_.engine.Choose(spec_.device, UINT64_MAX, &pool_)) return refusal;
  use_.emplace(*pool_);
  reduction_.emplace(spec_, Source::kStream, control_);
  return std::nullopt;
}

std::optional<Refusal> StreamCall::ReadSegments(const v1::ReduceStreamRequest& message,
                                                std::string_view offsets) {
  const v1::StreamHeader& header = message.header();
  if (header.has_segments()) {
    if (auto refusal = InHeader(CheckNoPart(spec_))) return refusal;
    segments_.emplace(rooms_.admission, "header.segments", announced_elements_);
    return segments_->Start(header.segments().length(), offsets);
  }
  if (offsets.empty()) return std::nullopt;
  if (segments_) return segments_->Append(offsets);
  return Invalid("BAD_SEGMENTS", "segment_offsets",
                 "segment_offsets has " + std::to_string(offsets.size() / sizeof(uint64_t)) +
                     " offsets, and header.segments is not set; set it, to an empty message.");
}

std::optional<Refusal> StreamCall::CloseSegments() {
  if (segments_->closed()) return std::nullopt;
  if (auto refusal = segments_->Close(SegmentColumns::BytesPerSegment(spec_))) return refusal;
  reduction_->Divide(*segments_, rooms_.admission);
  return std::nullopt;
}

std::optional<Refusal> StreamCall::CheckLength() {
  if (!reduction_) {
    return Invalid("NO_HEADER", "header", "The stream ended before a header came.");
  }
  const uint64_t size = spec_.element_size();
  if (announced_elements_ && received_bytes_ != *announced_elements_ * size) {
    return Invalid("COUNT_NOT_KEPT", "header.element_count",
                   "header.element_count announced " + std::to_string(*announced_elements_) +
                       " elements, and the stream carried " + std::to_string(received_bytes_) +
                       " bytes of " + std::to_string(size) +
                       " an element; send what is announced, or announce nothing.");
  }
  uint64_t elements = 0;
  if (auto refusal = InHeader(CountElements(spec_, received_bytes_, "x", &elements))) {
    return refusal;
  }
  if (!segments_) return std::nullopt;
  if (auto refusal = CloseSegments()) return refusal;
  return segments_->CheckAll(elements);
}

}  // namespace reduction::server
