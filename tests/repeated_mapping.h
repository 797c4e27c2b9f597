// A huge array in little memory: one page range, mapped many times side by side.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace reduction::testing {

class RepeatedMapping {
 public:
  // `count` elements that repeat `pattern`, whose size divides 2 MiB. Throws when the kernel
  // refuses.
  template <class T>
  RepeatedMapping(const std::vector<T>& pattern, uint64_t count) {
    const size_t pattern_bytes = pattern.size() * sizeof(T);
    length_ = count * sizeof(T);
    mapped_ = (length_ + kRange - 1) / kRange * kRange;
    const int file = memfd_create("repeated", 0);
    if (file < 0 || ftruncate(file, kRange) != 0) throw std::runtime_error("memfd");
    void* const area = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) throw std::runtime_error("mmap");
    begin_ = static_cast<std::byte*>(area);
    // The last range has pages of its own once they are written.
    for (size_t at = 0; at < mapped_; at += kRange) {
      const int kind = at + kRange == mapped_ ? MAP_PRIVATE : MAP_SHARED;
      if (mmap(begin_ + at, kRange, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, 0) ==
          MAP_FAILED) {
        throw std::runtime_error("mmap");
      }
    }
    close(file);
    for (size_t at = 0; at < kRange; at += pattern_bytes) {
      std::memcpy(begin_ + at, pattern.data(), pattern_bytes);
    }
  }
  ~RepeatedMapping() { munmap(begin_, mapped_); }
  RepeatedMapping(const RepeatedMapping&) = delete;
  RepeatedMapping& operator=(const RepeatedMapping&) = delete;

  template <class T>
  void SetLast(T element) {
    std::memcpy(begin_ + length_ - sizeof(T), &element, sizeof(T));
  }
  const std::byte* data() const { return begin_; }

 private:
  static constexpr size_t kRange = size_t{2} << 20;
  size_t length_;
  size_t mapped_;
  std::byte* begin_;
};

}  // namespace reduction::testing
