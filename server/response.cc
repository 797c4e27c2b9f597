#include "server/response.h"

#include "kernels/float_environment.h"
#include "kernels/partial.h"
#include "reduction/v1/reduction.pb.h"
#include "server/codec.h"

namespace reduction::server {
namespace {

using kernels::ResultError;
using kernels::Statistic;

void SetValue(const kernels::Value& value, v1::Value* out) {
  if (const auto* real = std::get_if<double>(&value)) out->set_float64(*real);
  if (const auto* integer = std::get_if<int64_t>(&value)) out->set_int64(*integer);
  if (const auto* natural = std::get_if<uint64_t>(&value)) out->set_uint64(*natural);
}

std::optional<Refusal> ToRefusal(const ReductionSpec& spec, Statistic statistic,
                                 ResultError error) {
  const std::string name(kernels::StatisticName(statistic));
  switch (error) {
    case ResultError::kNone:
      return std::nullopt;
    case ResultError::kEmpty:
      return Invalid("EMPTY_ARRAY", spec.streamed ? "x" : "inline",
                     "The array has no elements, and " + name +
                         " of no elements is undefined; send at least one.");
    case ResultError::kOverflow:
      break;
  }
  return Refusal{grpc::StatusCode::OUT_OF_RANGE, "OVERFLOW",
                 "The " + name + " does not fit in " +
                     (kernels::IsSigned(spec.plan.type) ? "int64" : "uint64") +
                     "; use options.overflow = WRAP to get its low 64 bits.",
                 "", std::nullopt};
}

template <class Response>
void SetExecution(const ExecutionRecord& record, Response* response) {
  auto* execution = response->add_execution();
  execution->set_device(record.device);
  execution->set_algorithm(record.algorithm == kernels::Algorithm::kAtomic
                               ? v1::ALGORITHM_ATOMIC
                               : v1::ALGORITHM_TWO_PASS);
  execution->set_bytes(record.bytes);
  execution->set_queued_nanos(static_cast<uint64_t>(record.times.queue_ns));
  execution->set_receive_nanos(static_cast<uint64_t>(record.times.receive_ns));
  execution->set_copy_nanos(static_cast<uint64_t>(record.times.copy_ns));
  execution->set_kernel_nanos(static_cast<uint64_t>(record.times.kernel_ns));
}

template <class Response>
void SetCommon(const ReductionSpec& spec, uint64_t elements, const kernels::OrderedFold& fold,
               uint64_t count, const ExecutionRecord& record, Response* response) {
  response->set_count(count);
  SetExecution(record, response);
  if (spec.return_partial) {
    response->set_partial(
        kernels::EncodePartial({spec.plan, spec.first_element, elements, fold.nodes()}));
  }
}

// Not inlined: see DefaultFloatEnvironment.
[[gnu::noinline]] kernels::State TotalOf(const kernels::OrderedFold& fold) { return fold.Total(); }

}  // namespace

std::optional<Refusal> EncodeResponse(const ReductionSpec& spec, uint64_t elements,
                                      const kernels::OrderedFold& fold,
                                      const ExecutionRecord& execution,
                                      grpc::ByteBuffer* response) {
  const kernels::DefaultFloatEnvironment environment;
  const kernels::State total = TotalOf(fold);
  v1::ReduceResponse many;
  v1::ValueResponse one;
  const bool single = spec.operation != Operation::kReduce && !spec.streamed;
  if (!spec.return_partial) {
    for (const Statistic statistic : spec.statistics) {
      const kernels::Result result =
          kernels::Finalize(statistic, spec.plan.type, total, elements, spec.result_options);
      if (auto refusal = ToRefusal(spec, statistic, result.error)) return refusal;
      if (single) {
        SetValue(result.value, one.mutable_value());
        continue;
      }
      auto* value = many.add_values();
      value->set_statistic(static_cast<v1::Statistic>(statistic));
      if (!std::holds_alternative<std::monostate>(result.value)) {
        SetValue(result.value, value->mutable_value());
      }
    }
  }
  if (single) {
    SetCommon(spec, elements, fold, total.count, execution, &one);
    *response = Encode(one);
  } else {
    SetCommon(spec, elements, fold, total.count, execution, &many);
    *response = Encode(many);
  }
  return std::nullopt;
}

grpc::ByteBuffer EncodeResponse(const SegmentColumns& columns, const ExecutionRecord& execution) {
  v1::ReduceResponse head;
  head.set_count(columns.count());
  SetExecution(execution, &head);
  return columns.Encode(head.SerializeAsString());
}

}  // namespace reduction::server
