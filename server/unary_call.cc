#include "server/unary_call.h"

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

template <class Request>
std::optional<Refusal> ReadRequest(const grpc::ByteBuffer& buffer, Operation operation,
                                   ReductionSpec* spec, ByteQueue* x, ByteQueue* y) {
  Request request;
  const int last_array_field = y == nullptr ? kXField : kYField;
  bool has_sources = false;
  if (auto refusal = Decode(buffer, last_array_field, &request, x, y, &has_sources)) return refusal;
  std::vector<int> statistics;
  if constexpr (std::is_same_v<Request, v1::ReduceRequest>) {
    statistics.assign(request.statistics().begin(), request.statistics().end());
  } else {
    statistics = {OnlyStatistic(operation)};
  }
  if (auto refusal = MakeSpec(operation, request.element_type(), request.options(), request.part(),
                              statistics, spec)) {
    return refusal;
  }
  if (!has_sources) {
    const std::string field = y == nullptr ? "inline" : x->size() == 0 ? "x_inline" : "y_inline";
    return Invalid(
        "NO_SOURCE", field,
        field +
            " is not set, nor another source that this server knows; set it, to no bytes "
            "for an empty array.");
  }
  return std::nullopt;
}

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

std::optional<Refusal> UnaryCall::Read(const grpc::ByteBuffer& request) {
  switch (spec_.operation) {
    case Operation::kDot: {
      if (auto refusal = ReadRequest<v1::DotRequest>(request, spec_.operation, &spec_, &x_, &y_)) {
        return refusal;
      }
      if (auto refusal = CheckSameLength(x_.size(), y_.size(), "y_inline")) return refusal;
      break;
    }
    case Operation::kReduce:
      if (auto refusal =
              ReadRequest<v1::ReduceRequest>(request, spec_.operation, &spec_, &x_, nullptr)) {
        return refusal;
      }
      break;
    default:
      if (auto refusal =
              ReadRequest<v1::ArrayRequest>(request, spec_.operation, &spec_, &x_, nullptr)) {
        return refusal;
      }
  }
  bytes_ = array_bytes();
  return CountElements(spec_, x_.size(), spec_.is_dot() ? "x_inline" : "inline", &elements_);
}

std::optional<Refusal> UnaryCall::Admit(const grpc::ByteBuffer& request) {
  if (auto refusal = rooms_.engine.Choose(spec_.device, bytes_, &pool_)) return refusal;
  return rooms_.admission.AdmitUnary(request.Length(), bytes_, pool_->queue_depth(), &ticket_);
}

void UnaryCall::Start(const grpc::ByteBuffer& request) {
  if (auto refusal = rooms_.admission.CheckDraining()) return Refuse(*refusal);
  if (auto refusal = Read(request)) return Refuse(*refusal);
  if (auto refusal = Admit(request)) return Refuse(*refusal);
  const bool on_cpu = pool_ == &rooms_.engine.cpu();
  if (on_cpu && bytes_ <= Engine::kImmediateBytes && !spec_.return_partial) return ReduceNow();
  use_.emplace(*pool_);
  reduction_.emplace(spec_, Source::kInline, control_);
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
  metrics.AddBusy(Link::kCopy, {start_ns, gathered_ns});
  metrics.AddBusy(Link::kKernel, {gathered_ns, end_ns});
  metrics.CountReduced(spec_, Source::kInline, bytes_, elements_);
  Respond(fold, execution);
}

size_t UnaryCall::staged_bytes() const { return bytes_; }

void UnaryCall::Stage(LaneDriver& driver) {
  reduction_->times().queue_ns = SteadyNanos() - queued_at_ns;
  if (!driver.lost()) reduction_->Consume(driver, x_, y_, /*end=*/true);
}

void UnaryCall::Complete(LaneDriver& driver) {
  if (driver.lost()) return Refuse(DeviceLost(pool_->info().label, driver.error()));
  if (reduction_->elements() != elements_) return Refuse(Dropped(control_));
  Respond(reduction_->fold(),
          {pool_->info().label, reduction_->algorithm(), bytes_, reduction_->times()});
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
