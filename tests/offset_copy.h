// Bytes at a chosen alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace reduction::testing {

// A copy of bytes that starts `offset` bytes after a multiple of 64.
class OffsetCopy {
 public:
  OffsetCopy(const std::vector<std::byte>& bytes, size_t offset)
      : memory_(bytes.size() + offset + 64) {
    const size_t misaligned = reinterpret_cast<uintptr_t>(memory_.data()) % 64;
    begin_ = memory_.data() + (64 - misaligned) % 64 + offset;
    if (!bytes.empty()) std::memcpy(begin_, bytes.data(), bytes.size());
  }
  OffsetCopy(const OffsetCopy&) = delete;
  OffsetCopy& operator=(const OffsetCopy&) = delete;

  const std::byte* data() const { return begin_; }

 private:
  std::vector<std::byte> memory_;
  std::byte* begin_;
};

}  // namespace reduction::testing
