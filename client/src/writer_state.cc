#include "client/src/writer_state.h"

#include <algorithm>
#include <string>
#include <utility>

namespace reduction::detail {
namespace {

// What is gathered longer than this goes out with the next Write(): a server ends a stream from
// which no message came for ten seconds.
constexpr std::chrono::seconds kMaxGathering{1};

Status FinishedAlready() {
  return {StatusCode::kFailedPrecondition, "the stream is finished already", {}, {}};
}

}  // namespace

WriterState::WriterState(std::shared_ptr<const ClientState> client, const ClientState::Route& route,
                         Request request, std::optional<uint64_t> element_count,
                         uint64_t message_bytes, Deadline deadline)
    : client_(std::move(client)),
      target_(*route.target),
      request_(std::move(request)),
      element_count_(element_count),
      chunk_bytes_(std::max<uint64_t>(1, message_bytes / (is_dot() ? 2 : 1))),
      call_(target_.connection(route.connection).OpenStream(kReduceStreamMethod, deadline)) {
  if (request_.offsets().empty()) return;
  segments_ = request_.offsets().size() - 1;
  header_sent_ = true;
  CheckSent(
      SendHeadWithOffsets(call_.get(), request_, element_count_, message_bytes, Payload::kCopy));
  request_.segments = std::span<const uint64_t>();
}

Status WriterState::Write(std::span<const std::byte> x, std::span<const std::byte> y) {
  if (failure_.ok() && call_ == nullptr) return FinishedAlready();
  while (!x.empty() && failure_.ok()) {
    const size_t step = std::min(chunk_bytes_ - x_.size(), x.size());
    const auto x_step = x.first(step);
    const auto y_step = is_dot() ? y.first(step) : y;
    if (step == chunk_bytes_) {
      Send(x_step, y_step);
    } else {
      x_.insert(x_.end(), x_step.begin(), x_step.end());
      y_.insert(y_.end(), y_step.begin(), y_step.end());
      if (x_.size() == chunk_bytes_) Flush();
    }
    x = x.subspan(step);
    if (is_dot()) y = y.subspan(step);
  }
  if (failure_.ok() && !x_.empty() &&
      std::chrono::steady_clock::now() - last_sent_ > kMaxGathering) {
    Flush();
  }
  return failure_;
}

void WriterState::Flush() {
  Send(x_, y_);
  x_.clear();
  y_.clear();
}

Status WriterState::Send(std::span<const std::byte> x, std::span<const std::byte> y) {
  const Message message = header_sent_ ? EncodeChunk(offset_, x, y, is_dot())
                                       : EncodeStreamHeader(request_, {}, element_count_, x, y);
  header_sent_ = true;
  offset_ += x.size();
  last_sent_ = std::chrono::steady_clock::now();
  return CheckSent(call_->Send(message, Payload::kCopy));
}

Status WriterState::CheckSent(bool sent) {
  if (sent) return {};
  std::string unused;
  Status status = call_->Finish(&unused);
  call_.reset();
  if (status.ok()) {
    status = {StatusCode::kInternal, "the server answered before the end of the array", {}, {}};
  }
  return Fail(status);
}

Status WriterState::End(std::string* response) {
  if (failure_.ok() && call_ == nullptr) return FinishedAlready();
  if (failure_.ok() && (!x_.empty() || !header_sent_)) Flush();
  if (!failure_.ok()) return failure_;
  const Status status = call_->Finish(response);
  call_.reset();
  return status.ok() ? status : Fail(status);
}

Result<Reduction> WriterState::Finish() {
  std::string response;
  const Status status = End(&response);
  if (!status.ok()) return status;
  Result<Reduction> reduction = DecodeStream(request_, offset_, response);
  if (!reduction.ok()) return Fail(reduction.status());
  return reduction;
}

Result<SegmentedReduction> WriterState::FinishSegments() {
  std::string response;
  const Status status = End(&response);
  if (!status.ok()) return status;
  if (!segments_) {
    const Result<uint64_t> segments =
        CountSegments(*request_.segments, offset_ / ElementSize(request_.type));
    if (!segments.ok()) return Fail(segments.status());
    segments_ = *segments;
  }
  Result<SegmentedReduction> reduction = DecodeSegments(request_, offset_, *segments_, response);
  if (!reduction.ok()) return Fail(reduction.status());
  return reduction;
}

Status WriterState::Refuse(const Status& status) {
  if (!failure_.ok()) return failure_;
  return call_ == nullptr ? FinishedAlready() : Fail(status);
}

Status WriterState::Fail(const Status& status) {
  failure_ = status;
  call_.reset();
  target_.ForgetInfo();
  return failure_;
}

}  // namespace reduction::detail
