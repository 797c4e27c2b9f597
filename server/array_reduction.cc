#include "server/array_reduction.h"

#include <algorithm>

#include "server/lane_driver.h"

namespace reduction::server {

using kernels::kLeafBytes;

int64_t SteadyNanos() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

std::optional<Piece> ArrayReduction::NextPiece(uint64_t available, bool end, size_t capacity) {
  const size_t element_size = spec_.element_size();
  uint64_t bytes = available;
  if (segments_) {
    const uint64_t rest = segments_->NextRest();
    if (rest <= available / element_size) {
      bytes = rest * element_size;
      end = true;
    }
  }
  if (!end) bytes -= bytes % kLeafBytes;
  if (bytes == 0) return std::nullopt;
  // Ending on a multiple of the capacity keeps most launches at one node.
  const size_t capacity_leaves = capacity / kLeafBytes;
  const uint64_t leaves_to_boundary = capacity_leaves - next_leaf_ % capacity_leaves;
  const Piece piece{std::min(bytes, leaves_to_boundary * kLeafBytes), next_leaf_};
  const uint64_t elements = piece.bytes / element_size;
  elements_ += elements;
  next_leaf_ += kernels::LeafCount(piece.bytes);
  if (segments_ && segments_->Staged(elements)) next_leaf_ = 0;
  return piece;
}

void ArrayReduction::Consume(LaneDriver& driver, ByteQueue& x, ByteQueue& y, bool end) {
  constexpr size_t kMaxPieces = kernels::Lane::kMaxTasks;
  const size_t capacity = spec_.is_dot() ? driver.slot_bytes() / 2 : driver.slot_bytes();
  while (!control_.dropped() && !(segments_ && segments_->refusal())) {
    pieces_.clear();
    for (uint64_t planned = 0; planned < capacity && pieces_.size() < kMaxPieces;) {
      const std::optional<Piece> piece = NextPiece(x.size() - planned, end, capacity);
      if (!piece) break;
      planned += piece->bytes;
      pieces_.push_back(*piece);
    }
    if (pieces_.empty() || !driver.Stage(*this, x, y, pieces_)) return;
  }
}

void ArrayReduction::CountLaunch(const kernels::Completion& completion) {
  algorithm_ = completion.algorithm;
  times_.copy_ns += completion.copy.end_ns - completion.copy.begin_ns;
  times_.kernel_ns += completion.kernel.end_ns - completion.kernel.begin_ns;
}

}  // namespace reduction::server
