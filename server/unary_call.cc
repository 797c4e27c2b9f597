#include "server/unary_call.h"

#include <array>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_reduce.h"
#include "reduction/v1/reduction.pb.h"
#include "server/codec.h"
#include "server/lane_driver.h"

namespace reduction::server {
namespace {

int OnlyStatistic(Operation operation) {
  switch (operation) {
    case Operation::kSum:
      return v1::STATISTIC_SUM;
    case Operation::kMax:
      return v1::STATISTIC_MAX;
    case Operation::kMin:
      return v1::STATISTIC_MIN;
    case Operation::kDot:
      return v1::STATISTIC_DOT;
    case Operation::kReduce:
      break;
  }
  return v1::STATISTIC_UNSPECIFIED;
}

// Segments.offsets in a ReduceRequest.
constexpr int kOffsetsPath[] = {v1::ReduceRequest::kSegmentsFieldNumber,
                                v1::Segments::kOffsetsFieldNumber};

// `queue`'s bytes in one piece: where they are, or gathered in this thread's scratch memory.
const std::byte* Gather(ByteQueue& queue, std::vector<std::byte>& scratch) {
  if (const std::byte* bytes = queue.Contiguous()) return bytes;
  scratch.resize(Engine::kImmediateBytes);
  queue.Pop(scratch.data(), queue.size());
  return scratch.data();
}

}  // namespace

UnaryCall::UnaryCall(Rooms& rooms, MethodMetrics& metrics, Operation operation,
                     grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                     grpc::ByteBuffer* response)
    : rooms_(rooms),
      record_(metrics, rooms.calls),
      control_(context->deadline()),
      response_(response) {
  spec_.operation = operation;
  rooms.metrics.CountReceived(Source::kInline, request->Length());
  Start(*request);
}

template <class Request>
std::optional<Refusal> UnaryCall::ReadMessage(const grpc::ByteBuffer& buffer, Request* request) {
  DataFields fields;
  std::vector<int> statistics = {OnlyStatistic(spec_.operation)};
  if (spec_.is_dot()) fields.last_array_field = kYField;
  if (spec_.operation == Operation::kReduce) fields.offsets_path = kOffsetsPath;
  MessageData data;
  if (auto refusal = Decode(buffer, fields, request, &data)) return refusal;
  if constexpr (std::is_same_v<Request, v1::ReduceRequest>) {
    statistics.assign(request->statistics().begin(), request->statistics().end());
  }
  if (auto refusal = MakeSpec(spec_.operation, request->element_type(), request->options(),
                              request->part(), statistics, &spec_)) {
    return refusal;
  }
  x_ = std::move(data.x);
  y_ = std::move(data.y);
  offsets_ = std::move(data.offsets);
  bytes_ = x_.size() + y_.size();
  if (!data.has_x || (spec_.is_dot() && !data.has_y)) {
    const std::string field = !spec_.is_dot() ? "inline" : !data.has_x ? "x_inline" : "y_inline";
    return Invalid(
        "NO_SOURCE", field,
        field +
            " is not set, nor another source that this server knows; set it, to no bytes "
            "for an empty array.");
  }
  if (spec_.is_dot()) {
    if (auto refusal = CheckSameLength(x_.size(), y_.size(), "y_inline")) return refusal;
  }
  return CountElements(spec_, x_.size(), spec_.is_dot() ? "x_inline" : "inline", &elements_);
}

std::optional<Refusal> UnaryCall::ReadSegments(const v1::ReduceRequest& request) {
  if (!request.has_segments()) return std::nullopt;
  if (auto refusal = CheckNoPart(spec_)) return refusal;
  segments_.emplace(rooms_.admission, "segments", elements_);
  if (auto refusal = segments_->Start(request.segments().length(), offsets_)) return refusal;
  return segments_->Close(SegmentColumns::BytesPerSegment(spec_));
}

std::optional<Refusal> UnaryCall::Read(const grpc::ByteBuffer& request) {
  if (spec_.operation == Operation::kDot) {
    v1::DotRequest message;
    return ReadMessage(request, &message);
  }
  if (spec_.operation != Operation::kReduce) {
    v1::ArrayRequest message;
    return ReadMessage(request, &message);
  }
  v1::ReduceRequest message;
  if (auto refusal = ReadMessage(request, &message)) return refusal;
  if (auto refusal = rooms_.admission.CheckMessage(bytes_ + offsets_.size())) return refusal;
  return ReadSegments(message);
}

std::optional<Refusal> UnaryCall::Admit(const grpc::ByteBuffer& request) {
  if (auto refusal = rooms_.engine.Choose(spec_.device, bytes_, &pool_)) return refusal;
  const uint64_t data_bytes = bytes_ + offsets_.size();
  offsets_ = {};
  return rooms_.admission.AdmitUnary(request.Length(), data_bytes, pool_->queue_depth(), &ticket_);
}

void UnaryCall::Start(const grpc::ByteBuffer& request) {
  if (auto refusal = rooms_.admission.CheckDraining()) return Refuse(*refusal);
  if (auto refusal = Read(request)) return Refuse(*refusal);
  if (auto refusal = Admit(request)) return Refuse(*refusal);
  const bool on_cpu = pool_ == &rooms_.engine.cpu();
  if (on_cpu && bytes_ <= Engine::kImmediateBytes && !spec_.return_partial && !segments_) {
    return ReduceNow();
  }
  use_.emplace(*pool_);
  reduction_.emplace(spec_, Source::kInline, control_);
  if (segments_) reduction_->Divide(*segments_, rooms_.admission);
  pool_->Submit(this);
}

void UnaryCall::ReduceNow() {
  thread_local std::vector<std::byte> x_scratch;
  thread_local std::vector<std::byte> y_scratch;
  ExecutionRecord execution{pool_->info().label, kernels::Algorithm::kTwoPass, bytes_, {}};
  const int64_t start_ns = SteadyNanos();
  const std::byte* const x = Gather(x_, x_scratch);
  const std::byte* const y = spec_.is_dot() ? Gather(y_, y_scratch) : nullptr;
  const int64_t gathered_ns = SteadyNanos();
  kernels::OrderedFold fold(kernels::IsFloating(spec_.plan.type), spec_.first_leaf());
  fold.Push({spec_.first_leaf(), 0},
            kernels::ReduceOnCpu(spec_.plan, x, y, elements_, spec_.first_element));
  const int64_t end_ns = SteadyNanos();
  execution.times.copy_ns = gathered_ns - start_ns;
  execution.times.kernel_ns = end_ns - gathered_ns;
  DeviceMetrics& metrics = pool_->metrics();
  metrics.AddBusy(Link::kCopy, std::array{kernels::Interval{start_ns, gathered_ns}});
  metrics.AddBusy(Link::kKernel, std::array{kernels::Interval{gathered_ns, end_ns}});
  metrics.CountReduced(spec_, Source::kInline, bytes_, elements_);
  Respond(fold, execution);
}

size_t UnaryCall::staged_bytes() const {
  // Every segment may take a row that it does not fill.
  return bytes_ + (segments_ ? *segments_->count() * kernels::kRowBytes : 0);
}

void UnaryCall::Stage(LaneDriver& driver) {
  reduction_->times().queue_ns = SteadyNanos() - queued_at_ns;
  if (!driver.lost()) reduction_->Consume(driver, x_, y_, /*end=*/true);
}

void UnaryCall::Complete(LaneDriver& driver) {
  if (driver.lost()) return Refuse(DeviceLost(pool_->info().label, driver.error()));
  SegmentReduction* const segments = reduction_->segments();
  if (segments != nullptr && segments->refusal()) return Refuse(*segments->refusal());
  if (reduction_->elements() != elements_) return Refuse(Dropped(control_));
  const ExecutionRecord execution{pool_->info().label, reduction_->algorithm(), bytes_,
                                  reduction_->times()};
  if (segments == nullptr) return Respond(reduction_->fold(), execution);
  segments->Finish();
  if (segments->refusal()) return Refuse(*segments->refusal());
  ObserveStages(pool_->metrics(), execution.times);
  *response_ = EncodeResponse(segments->columns(), execution);
  Finish(record_.Ended(grpc::Status::OK));
}

void UnaryCall::Respond(const kernels::OrderedFold& fold, const ExecutionRecord& execution) {
  ObserveStages(pool_->metrics(), execution.times);
  if (auto refusal = EncodeResponse(spec_, elements_, fold, execution, response_)) {
    return Refuse(*refusal);
  }
  Finish(record_.Ended(grpc::Status::OK));
}

void UnaryCall::Refuse(const Refusal& refusal) { Finish(record_.Ended(ToStatus(refusal))); }

}  // namespace reduction::server
