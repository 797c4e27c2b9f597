// Results of segments as columns, in the memory from which the response is sent.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/admission.h"
#include "server/reduction_spec.h"
#include "server/refusal.h"

namespace reduction::server {

// Used by one thread at a time.
class SegmentColumns {
 public:
  // `segments`: how many there will be, where known.
  SegmentColumns(const ReductionSpec& spec, Admission& admission, std::optional<uint64_t> segments)
      : spec_(spec),
        admission_(admission),
        segments_(segments),
        validity_(spec.statistics.size()) {}

  // What the results of one segment take, at most.
  static size_t BytesPerSegment(const ReductionSpec& spec);

  // Adds the results of the next segment, which has `elements` elements (ignored NaNs included).
  std::optional<Refusal> Append(const kernels::State& state, uint64_t elements);

  // Elements of all segments that took part.
  uint64_t count() const { return count_; }

  // A ReduceResponse with the fields in `head`, the columns and the counts. Its memory stays leased
  // until gRPC has let go of it.
  grpc::ByteBuffer Encode(const std::string& head) const;

 private:
  // The results of `capacity` segments: one column after the other, the counts last.
  struct Chunk {
    SegmentMemory::Lease lease;
    uint64_t capacity;
    std::unique_ptr<std::byte[]> bytes;
    uint64_t size = 0;
  };

  std::optional<Refusal> AddChunk();
  void AppendColumn(size_t column, std::vector<grpc::Slice>* slices) const;

  const ReductionSpec& spec_;
  Admission& admission_;
  const std::optional<uint64_t> segments_;
  std::vector<std::shared_ptr<Chunk>> chunks_;
  std::vector<std::string> validity_;  // a bitmap a statistic, empty while all are valid
  uint64_t size_ = 0;
  uint64_t count_ = 0;
};

}  // namespace reduction::server
