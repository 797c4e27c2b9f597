// From a finished reduction to the response message.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <string>

#include "kernels/ordered_fold.h"
#include "server/array_reduction.h"
#include "server/reduction_spec.h"
#include "server/refusal.h"
#include "server/segment_columns.h"

namespace reduction::server {

// What ran where; becomes reduction.v1.Execution.
struct ExecutionRecord {
  std::string device;
  kernels::Algorithm algorithm = kernels::Algorithm::kTwoPass;
  uint64_t bytes = 0;
  StageTimes times;
};

// Encodes the response to `spec` for an array of `elements` elements whose state is in `fold`, or
// returns why it has no result.
std::optional<Refusal> EncodeResponse(const ReductionSpec& spec, uint64_t elements,
                                      const kernels::OrderedFold& fold,
                                      const ExecutionRecord& execution, grpc::ByteBuffer* response);

// The same for an array of segments, whose bad ones are invalid entries.
grpc::ByteBuffer EncodeResponse(const SegmentColumns& columns, const ExecutionRecord& execution);

}  // namespace reduction::server
