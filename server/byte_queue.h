// Array bytes as they came off the wire: slices in order, joined only by the copy into staging.
#pragma once

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>

namespace reduction::server {

// A FIFO of bytes that keeps gRPC's receive slices alive until they are popped. Not thread-safe.
class ByteQueue {
 public:
  size_t size() const { return size_; }

  // Appends bytes [begin, end) of `slice`.
  void Push(const grpc::Slice& slice, size_t begin, size_t end) {
    if (begin == end) return;
    pieces_.push_back({slice, begin, end});
    size_ += end - begin;
  }

  // Moves everything of `other` to the end of this queue.
  void Append(ByteQueue&& other) {
    for (Piece& piece : other.pieces_) pieces_.push_back(std::move(piece));
    size_ += other.size_;
    other.Clear();
  }

  // Copies the first `bytes` to `to` and drops them. bytes <= size().
  void Pop(std::byte* to, size_t bytes) {
    size_ -= bytes;
    while (bytes > 0) {
      Piece& piece = pieces_.front();
      const size_t step = std::min(bytes, piece.end - piece.begin);
      memcpy(to, piece.slice.begin() + piece.begin, step);
      to += step;
      bytes -= step;
      piece.begin += step;
      if (piece.begin == piece.end) pieces_.pop_front();
    }
  }

  // The bytes where they are, when one slice holds them all; else null.
  const std::byte* Contiguous() const {
    if (pieces_.size() != 1) return nullptr;
    return reinterpret_cast<const std::byte*>(pieces_.front().slice.begin()) +
           pieces_.front().begin;
  }

  // Bounds the receive memory that few bytes in many slices pin: copies them into one slice.
  void Compact() {
    constexpr size_t kManyPieces = 16;
    if (pieces_.size() < kManyPieces) return;
    grpc::Slice joined(size_);
    const size_t bytes = size_;
    Pop(reinterpret_cast<std::byte*>(const_cast<uint8_t*>(joined.begin())), bytes);
    Push(joined, 0, bytes);
  }

  void Clear() {
    pieces_.clear();
    size_ = 0;
  }

 private:
  struct Piece {
    grpc::Slice slice;
    size_t begin;
    size_t end;
  };
  std::deque<Piece> pieces_;
  size_t size_ = 0;
};

}  // namespace reduction::server
