#include "client/src/combine.h"

#include <utility>

#include "kernels/float_environment.h"
#include "kernels/partial.h"
#include "kernels/result.h"

namespace reduction::detail {
namespace {

Status BadPartial(const std::string& what) {
  return {StatusCode::kInternal, "the server's partial cannot be used: " + what, "BAD_PARTIAL", {}};
}

// Whether `partial` is what `request` asked for.
bool Answers(const kernels::Partial& partial, const PartResult& part, const Request& request) {
  kernels::Components components = 0;
  for (const Statistic statistic : request.statistics) {
    components |= kernels::ComponentsOf(static_cast<kernels::Statistic>(statistic));
  }
  return partial.plan.type == static_cast<kernels::ElementType>(request.type) &&
         partial.plan.nan_policy == static_cast<kernels::NanPolicy>(request.options.nan_policy) &&
         (partial.plan.components & components) == components &&
         partial.first_element == part.first_element && partial.element_count == part.element_count;
}

Status ToStatus(kernels::ResultError error, Statistic statistic, ElementType type) {
  const std::string name(StatisticName(statistic));
  if (error == kernels::ResultError::kEmpty) {
    return {
        StatusCode::kInvalidArgument, name + " of no elements is not defined", "EMPTY_ARRAY", {}};
  }
  return {StatusCode::kOutOfRange,
          name + " of " + std::string(ElementTypeName(type)) +
              " does not fit in 64 bits; overflow WRAP gives it modulo 2^64",
          "OVERFLOW",
          {}};
}

// Not inlined: see DefaultFloatEnvironment.
[[gnu::noinline]] Result<Reduction> Combine(const Request& request,
                                            std::vector<PartResult>* parts) {
  std::vector<kernels::Partial> partials;
  std::vector<Execution> executions;
  std::string error;
  for (PartResult& part : *parts) {
    std::optional<kernels::Partial> partial = kernels::DecodePartial(part.response.partial, &error);
    if (!partial.has_value()) return BadPartial(error);
    if (!Answers(*partial, part, request)) return BadPartial("it is of another part or plan");
    partials.push_back(*std::move(partial));
    for (Execution& execution : part.response.executions) {
      executions.push_back(std::move(execution));
    }
  }
  uint64_t elements = 0;
  const std::optional<kernels::State> state =
      kernels::CombinePartials(std::move(partials), &elements, &error);
  if (!state.has_value()) return BadPartial(error);

  const kernels::ResultOptions options{
      static_cast<kernels::OverflowPolicy>(request.options.overflow), request.options.ddof};
  Reduction reduction;
  for (const Statistic statistic : request.statistics) {
    const kernels::Result result = kernels::Finalize(
        static_cast<kernels::Statistic>(statistic), static_cast<kernels::ElementType>(request.type),
        *state, elements, options);
    if (result.error != kernels::ResultError::kNone) {
      return ToStatus(result.error, statistic, request.type);
    }
    reduction.values.push_back({statistic, result.value});
  }
  reduction.count = state->count;
  reduction.executions = MergeExecutions(executions);
  return reduction;
}

}  // namespace

Result<Reduction> CombineParts(const Request& request, std::vector<PartResult> parts) {
  const kernels::DefaultFloatEnvironment environment;
  return Combine(request, &parts);
}

}  // namespace reduction::detail
