#include "server/reduction_spec.h"

#include <string>

#include "reduction/v1/reduction.pb.h"

namespace reduction::server {
namespace {

using kernels::Algorithm;
using kernels::ElementType;
using kernels::NanPolicy;
using kernels::OverflowPolicy;
using kernels::Statistic;

Refusal UnknownEnum(const std::string& field, int value, const std::string& how) {
  return Invalid(
      "UNKNOWN_ENUM", field,
      field + " is " + std::to_string(value) + ", which this server does not know; " + how);
}

std::optional<Refusal> ReadOptions(const v1::Options& options, ReductionSpec* spec) {
  if (!v1::Algorithm_IsValid(options.algorithm())) {
    return UnknownEnum("options.algorithm", options.algorithm(), "use AUTO, TWO_PASS or ATOMIC.");
  }
  if (!v1::NanPolicy_IsValid(options.nan_policy())) {
    return UnknownEnum("options.nan_policy", options.nan_policy(), "use PROPAGATE or IGNORE.");
  }
  if (!v1::OverflowPolicy_IsValid(options.overflow())) {
    return UnknownEnum("options.overflow", options.overflow(), "use WRAP or CHECK.");
  }
  if (!v1::Device_Kind_IsValid(options.device().kind())) {
    return UnknownEnum("options.device.kind", options.device().kind(), "use AUTO, GPU or CPU.");
  }
  spec->plan.algorithm =
      options.algorithm() == v1::ALGORITHM_ATOMIC ? Algorithm::kAtomic : Algorithm::kTwoPass;
  spec->plan.nan_policy =
      options.nan_policy() == v1::NAN_POLICY_IGNORE ? NanPolicy::kIgnore : NanPolicy::kPropagate;
  spec->result_options.overflow = options.overflow() == v1::OVERFLOW_POLICY_CHECK
                                      ? OverflowPolicy::kCheck
                                      : OverflowPolicy::kWrap;
  spec->result_options.ddof = options.ddof();
  spec->device.kind = static_cast<DeviceKind>(options.device().kind());
  if (options.device().has_ordinal()) spec->device.ordinal = options.device().ordinal();
  if (spec->device.kind == DeviceKind::kCpu && spec->device.ordinal.value_or(0) != 0) {
    return Invalid("NO_SUCH_CPU", "options.device.ordinal",
                   "options.device.ordinal is " + std::to_string(*spec->device.ordinal) +
                       ", and the CPU is one device; use 0, or leave the ordinal out.");
  }
  return std::nullopt;
}

std::optional<Refusal> ReadStatistics(const std::vector<int>& statistics, ReductionSpec* spec) {
  if (statistics.empty()) {
    return Invalid("NO_STATISTICS", "statistics",
                   "statistics is empty; name at least one statistic to compute.");
  }
  constexpr size_t kMaxStatistics = 64;
  if (statistics.size() > kMaxStatistics) {
    return Invalid("TOO_MANY_STATISTICS", "statistics",
                   "statistics has " + std::to_string(statistics.size()) +
                       " entries, more than the limit of 64; name each one once.");
  }
  spec->plan.components = 0;
  for (const int number : statistics) {
    if (number == v1::STATISTIC_UNSPECIFIED || !v1::Statistic_IsValid(number)) {
      return UnknownEnum("statistics", number, "GetServerInfo lists the known ones.");
    }
    const auto statistic = static_cast<Statistic>(number);
    if (statistic == Statistic::kDot && spec->operation != Operation::kDot) {
      return Invalid("DOT_NEEDS_TWO_ARRAYS", "statistics",
                     "statistics names DOT, which takes two arrays; call Dot, or ReduceStream with "
                     "DOT alone.");
    }
    spec->statistics.push_back(statistic);
    spec->plan.components |= kernels::ComponentsOf(statistic);
  }
  return std::nullopt;
}

std::optional<Refusal> ReadPart(const v1::Part& part, ReductionSpec* spec) {
  const uint64_t leaf_elements = kernels::kLeafBytes / spec->element_size();
  if (part.first_element() % leaf_elements != 0) {
    return Invalid("PART_NOT_ON_LEAF", "part.first_element",
                   "part.first_element is " + std::to_string(part.first_element()) +
                       ", which is no multiple of " + std::to_string(leaf_elements) +
                       ", the elements of a leaf; start the part on a multiple of it.");
  }
  spec->first_element = part.first_element();
  spec->return_partial = part.return_partial();
  return std::nullopt;
}

}  // namespace

const char* OperationName(Operation operation) {
  switch (operation) {
    case Operation::kSum:
      return "sum";
    case Operation::kMax:
      return "max";
    case Operation::kMin:
      return "min";
    case Operation::kDot:
      return "dot";
    case Operation::kReduce:
      break;
  }
  return "reduce";
}

std::optional<Refusal> MakeSpec(Operation operation, int element_type, const v1::Options& options,
                                const v1::Part& part, const std::vector<int>& statistics,
                                ReductionSpec* spec) {
  spec->operation = operation;
  if (element_type == v1::ELEMENT_TYPE_UNSPECIFIED || !v1::ElementType_IsValid(element_type)) {
    return UnknownEnum("element_type", element_type, "GetServerInfo lists the known ones.");
  }
  spec->plan.type = static_cast<ElementType>(element_type);
  if (auto refusal = ReadOptions(options, spec)) return refusal;
  if (auto refusal = ReadStatistics(statistics, spec)) return refusal;
  if (auto refusal = ReadPart(part, spec)) return refusal;
  if (spec->is_dot() && spec->result_options.overflow == OverflowPolicy::kCheck &&
      !kernels::IsFloating(spec->plan.type) && spec->element_size() == 8) {
    return Invalid("CHECK_NOT_SUPPORTED", "options.overflow",
                   "options.overflow is CHECK, which a dot product of 64-bit integers cannot "
                   "honour; use WRAP, or elements of at most 32 bits.");
  }
  return std::nullopt;
}

std::optional<Refusal> CheckNoPart(const ReductionSpec& spec) {
  if (spec.first_element == 0 && !spec.return_partial) return std::nullopt;
  return Invalid(
      "SEGMENTS_OF_PART", "part",
      "part and segments are both set, and a part has no segments of its own; send whole "
      "segments in calls of their own.");
}

std::optional<Refusal> CountElements(const ReductionSpec& spec, uint64_t bytes, const char* field,
                                     uint64_t* elements) {
  const size_t size = spec.element_size();
  if (bytes % size != 0) {
    return Invalid("PARTIAL_ELEMENT", field,
                   std::string(field) + " has " + std::to_string(bytes) +
                       " bytes, which is no multiple of the element size of " +
                       std::to_string(size) + "; send whole elements.");
  }
  *elements = bytes / size;
  if (spec.first_element > UINT64_MAX / size ||
      *elements > UINT64_MAX / size - spec.first_element) {
    return Invalid("PART_OUT_OF_RANGE", "part.first_element",
                   "part.first_element is " + std::to_string(spec.first_element) +
                       ", and the part would end beyond 2^64 bytes; start it earlier.");
  }
  return std::nullopt;
}

std::optional<Refusal> CheckSameLength(uint64_t x_bytes, uint64_t y_bytes, const char* field) {
  if (x_bytes == y_bytes) return std::nullopt;
  return Invalid("LENGTHS_DIFFER", field,
                 "x has " + std::to_string(x_bytes) + " bytes and y has " +
                     std::to_string(y_bytes) + "; a dot product needs arrays of one length.");
}

}  // namespace reduction::server
