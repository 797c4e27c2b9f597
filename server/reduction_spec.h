// A validated request: what to compute, of which part of which array, where.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/result.h"
#include "kernels/statistics.h"
#include "server/refusal.h"

namespace reduction::v1 {
class Options;
class Part;
}  // namespace reduction::v1

namespace reduction::server {

enum class Operation : uint8_t { kSum, kMax, kMin, kDot, kReduce };
inline constexpr Operation kAllOperations[] = {Operation::kSum, Operation::kMax, Operation::kMin,
                                               Operation::kDot, Operation::kReduce};
const char* OperationName(Operation operation);  // "sum", …: the label `op` of metrics

enum class DeviceKind : uint8_t { kAuto, kGpu, kCpu };
struct DeviceChoice {
  DeviceKind kind = DeviceKind::kAuto;
  std::optional<uint32_t> ordinal;
};

struct ReductionSpec {
  Operation operation = Operation::kSum;
  kernels::Plan plan;
  std::vector<kernels::Statistic> statistics;
  kernels::ResultOptions result_options;
  DeviceChoice device;
  uint64_t first_element = 0;  // of the part in the whole array
  bool return_partial = false;
  bool streamed = false;  // through ReduceStream, whose response holds any number of values

  size_t element_size() const { return kernels::ElementSize(plan.type); }
  uint64_t first_leaf() const { return first_element / (kernels::kLeafBytes / element_size()); }
  bool is_dot() const { return operation == Operation::kDot; }
};

// Validates everything that does not depend on the data. `statistics` are the numbers of
// reduction.v1.Statistic.
std::optional<Refusal> MakeSpec(Operation operation, int element_type, const v1::Options& options,
                                const v1::Part& part, const std::vector<int>& statistics,
                                ReductionSpec* spec);

// The refusal of segments together with a part.
std::optional<Refusal> CheckNoPart(const ReductionSpec& spec);

// Checks that `bytes` is a whole number of elements that the part has room for, and sets
// *elements to it. `field` names the array in the refusal.
std::optional<Refusal> CountElements(const ReductionSpec& spec, uint64_t bytes, const char* field,
                                     uint64_t* elements);

// The refusal for dot arrays of x_bytes and y_bytes where these differ. `field` names the second
// one.
std::optional<Refusal> CheckSameLength(uint64_t x_bytes, uint64_t y_bytes, const char* field);

}  // namespace reduction::server
