#include "server/stream_call.h"

#include <string>
#include <vector>

#include "reduction/v1/reduction.pb.h"
#include "server/codec.h"
#include "server/lane_driver.h"
#include "server/response.h"

namespace reduction::server {
namespace {

// What may wait for a lane while the client sends more.
constexpr size_t kMaxWaitingBytes = 8 << 20;
constexpr size_t kMaxWaitingMessages = 64;
constexpr int64_t kRateWindowNs = 10'000'000'000;

// Names the field at fault from the message that the header is in.
std::optional<Refusal> InHeader(std::optional<Refusal> refusal) {
  if (refusal && refusal->field != "x") refusal->field.insert(0, "header.");
  return refusal;
}

}  // namespace

StreamCall::StreamCall(Rooms& rooms, MethodMetrics& metrics, grpc::CallbackServerContext* context,
                       grpc::ByteBuffer* response)
    : rooms_(rooms),
      record_(metrics, rooms.calls),
      control_(context->deadline()),
      context_(context),
      response_(response) {
  rooms_.calls.Add(this);
  if (auto refusal = rooms_.admission.AdmitStream(&ticket_)) {
    FinishOnce(ToStatus(*refusal));
    return;
  }
  first_read_ns_ = SteadyNanos();
  const std::lock_guard lock(mutex_);
  ReadLocked();
}

StreamCall::~StreamCall() = default;

void StreamCall::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void StreamCall::OnCancel() {
  control_.Cancel();
  {
    const std::lock_guard lock(mutex_);
    if (scheduled_) return;  // the lane ends the call
  }
  FinishWith(Dropped(control_));
}

void StreamCall::OnDone() {
  rooms_.calls.Remove(this);
  Unref();
}

void StreamCall::OnReadDone(bool ok) {
  if (!ok && (control_.cancelled() || context_->IsCancelled())) {
    control_.Cancel();
    return OnCancel();
  }
  std::optional<Refusal> refusal;
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    window_wait_ns_ += SteadyNanos() - read_since_ns_;
    if (finished_) return;
    if (ok) {
      refusal = Receive();
    } else {
      ended_ = true;
      refusal = CheckLength();
    }
    if (!refusal) {
      ScheduleLocked();
      ReadLocked();
      return;
    }
    // Before a lane that runs the call can read on and, at the end of the stream, respond.
    ClaimEndLocked();
  }
  End(ToStatus(*refusal), {});
}

std::optional<Refusal> StreamCall::Receive() {
  rooms_.metrics.CountReceived(Source::kStream, message_.Length());
  window_bytes_ += message_.Length();
  v1::ReduceStreamRequest message;
  ByteQueue x;
  ByteQueue y;
  if (auto refusal = Decode(message_, kYField, &message, &x, &y)) return refusal;
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
  if (auto refusal = rooms_.admission.CheckMessage(x.size() + y.size())) return refusal;
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

std::optional<Refusal> StreamCall::CheckLength() const {
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
  return InHeader(CountElements(spec_, received_bytes_, "x", &elements));
}

void StreamCall::ScheduleLocked() {
  if (scheduled_ || finished_) return;
  if (!ended_ && waiting_x_.size() + x_.size() < kernels::kLeafBytes) {
    waiting_x_.Compact();
    waiting_y_.Compact();
    waiting_messages_ = 0;
    return;
  }
  scheduled_ = true;
  Ref();
  pool_->Submit(this);
}

void StreamCall::ReadLocked() {
  if (reading_ || ended_ || finished_) return;
  if (waiting_x_.size() + waiting_y_.size() >= kMaxWaitingBytes ||
      waiting_messages_ >= kMaxWaitingMessages) {
    return;
  }
  reading_ = true;
  read_since_ns_ = SteadyNanos();
  StartRead(&message_);
}

void StreamCall::Stage(LaneDriver& driver) {
  {
    const std::lock_guard lock(mutex_);
    x_.Append(std::move(waiting_x_));
    y_.Append(std::move(waiting_y_));
    waiting_messages_ = 0;
    took_everything_ = ended_ && !finished_;
    if (finished_) return;
    ReadLocked();
  }
  reduction_->times().queue_ns += SteadyNanos() - queued_at_ns;
  if (!driver.lost()) reduction_->Consume(driver, x_, y_, took_everything_);
  x_.Compact();
  y_.Compact();
}

void StreamCall::Complete(LaneDriver& driver) {
  if (driver.lost()) {
    FinishWith(DeviceLost(pool_->info().label, driver.error()));
  } else if (control_.dropped()) {
    FinishWith(Dropped(control_));
  } else if (took_everything_) {
    Respond();
  }
  {
    const std::lock_guard lock(mutex_);
    scheduled_ = false;
    if (!took_everything_) ScheduleLocked();
  }
  // A cancellation may have come too late for the check above and relied on this one.
  if (control_.cancelled()) FinishWith(Dropped(control_));
  Unref();
}

void StreamCall::Respond() {
  StageTimes& times = reduction_->times();
  times.receive_ns = SteadyNanos() - first_read_ns_;
  ObserveStages(pool_->metrics(), times);
  const uint64_t arrays = spec_.is_dot() ? 2 : 1;
  grpc::ByteBuffer response;
  auto refusal = EncodeResponse(
      spec_, reduction_->elements(), reduction_->fold(),
      {pool_->info().label, reduction_->algorithm(), arrays * received_bytes_, times}, &response);
  if (refusal) return FinishWith(*refusal);
  FinishOnce(grpc::Status::OK, response);
}

void StreamCall::FinishWith(const Refusal& refusal) { FinishOnce(ToStatus(refusal)); }

void StreamCall::FinishOnce(grpc::Status status, const grpc::ByteBuffer& response) {
  {
    const std::lock_guard lock(mutex_);
    if (!ClaimEndLocked()) return;
  }
  End(std::move(status), response);
}

bool StreamCall::ClaimEndLocked() {
  if (finished_) return false;
  finished_ = true;
  waiting_x_.Clear();
  waiting_y_.Clear();
  return true;
}

void StreamCall::End(grpc::Status status, const grpc::ByteBuffer& response) {
  ticket_.reset();  // before the client learns of the end and opens the next stream
  // gRPC keeps response_ until Finish(). Not under the lock: gRPC may call back at once.
  *response_ = response;
  Finish(record_.Ended(std::move(status)));
}

void StreamCall::CheckRate(uint64_t rate) {
  uint64_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    const int64_t now_ns = SteadyNanos();
    if (reading_) {
      window_wait_ns_ += now_ns - read_since_ns_;
      read_since_ns_ = now_ns;
    }
    if (window_wait_ns_ < kRateWindowNs) return;
    bytes = window_bytes_;
    const double seconds = static_cast<double>(window_wait_ns_) * 1e-9;
    window_wait_ns_ = 0;
    window_bytes_ = 0;
    if (static_cast<double>(bytes) >= static_cast<double>(rate) * seconds) return;
  }
  rooms_.metrics.CountRejected(Rejection::kSlowStream);
  FinishWith({grpc::StatusCode::DEADLINE_EXCEEDED, "STREAM_TOO_SLOW",
              "The stream carried " + std::to_string(bytes) +
                  " bytes in ten seconds of waiting for it, less than the limit of " +
                  std::to_string(rate) +
                  " bytes a second (--min-stream-rate); send faster, or open the stream when the "
                  "data is there.",
              "", std::nullopt});
}

}  // namespace reduction::server
