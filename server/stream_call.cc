#include "server/stream_call.h"

#include <string>

#include "server/lane_driver.h"
#include "server/response.h"

namespace reduction::server {
namespace {

// What may wait for a lane while the client sends more.
constexpr size_t kMaxWaitingBytes = 8 << 20;
constexpr size_t kMaxWaitingMessages = 64;
constexpr int64_t kRateWindowNs = 10'000'000'000;

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
  } else if (reduction_->segments() != nullptr && reduction_->segments()->refusal()) {
    FinishWith(*reduction_->segments()->refusal());
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
  const ExecutionRecord execution{pool_->info().label, reduction_->algorithm(),
                                  arrays * received_bytes_, times};
  grpc::ByteBuffer response;
  std::optional<Refusal> refusal;
  if (SegmentReduction* const segments = reduction_->segments()) {
    segments->Finish();
    refusal = segments->refusal();
    if (!refusal) response = EncodeResponse(segments->columns(), execution);
  } else {
    refusal =
        EncodeResponse(spec_, reduction_->elements(), reduction_->fold(), execution, &response);
  }
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
  control_.Cancel();  // a lane need not go on
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
