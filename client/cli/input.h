// Arrays from files and standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reduction/element_type.hpp"
#include "reduction/reduction.hpp"
#include "reduction/status.hpp"

namespace reduction::cli {

// Owns a file descriptor (not standard input's) and perhaps a mapping of the file.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  int fd() const { return fd_; }
  // The first `size` bytes; empty when the file cannot be mapped.
  std::span<const std::byte> Map(uint64_t size);

 private:
  int fd_ = -1;
  std::span<const std::byte> mapping_;
};

// One array. A large file is mapped and never touched by this process: the kernel reads its pages
// when they are sent, so a file that is truncated meanwhile fails the call and raises no SIGBUS.
class ArrayInput {
 public:
  // A .npy file, raw numbers of type `dtype`, or "-" for standard input. Errors name the file.
  static Result<ArrayInput> Open(const std::string& name, std::optional<ElementType> dtype);

  const std::string& name() const { return name_; }
  ElementType type() const { return type_; }
  // Absent when only the end of the data will tell.
  std::optional<uint64_t> count() const { return count_; }

  // Elements along the last axis of a .npy file in C order.
  std::optional<uint64_t> row_length() const { return row_length_; }
  // The number of these rows; UINT64_MAX: that or more, and they are empty.
  uint64_t rows() const { return rows_; }
  // Of a .npy file of several axes: whether it stores its elements in Fortran order.
  bool fortran_order() const { return npy_ && !row_length_.has_value(); }

  // The array in memory; null when it must be read piece by piece.
  const ArrayView* memory() const { return memory_.has_value() ? &*memory_ : nullptr; }

  // Fills `out`, whole elements, with the next bytes, little-endian; less than filled only at the
  // end. An error when the data is shorter or longer than it should be.
  Result<size_t> Read(std::span<std::byte> out) { return ReadUnits(out, out.size()); }
  // The same, but does not wait for more than what has come of a pipe: nothing only at the end.
  Result<size_t> ReadSome(std::span<std::byte> out) { return ReadUnits(out, ElementSize(type_)); }

  // An error when the file has become shorter than it was when opened.
  Status CheckUnchanged() const;

 private:
  Status Recognize(std::optional<ElementType> dtype);
  Status CheckFileSize();
  Status Load();
  Result<size_t> ReadUnits(std::span<std::byte> out, size_t unit);
  // Bytes at the cursor: `out`, or once some multiple of `unit` bytes is there, that; anything
  // else, or nothing, only at the end of the file.
  Result<size_t> ReadRaw(std::span<std::byte> out, size_t unit);
  Status Error(StatusCode code, const std::string& what) const;
  Status ErrnoError(const std::string& what) const;

  std::string name_;
  FileHandle file_;
  bool seekable_ = false;
  uint64_t cursor_ = 0;     // of a seekable file: where ReadRaw goes on
  uint64_t file_size_ = 0;  // of a seekable file
  std::string pending_;     // of a pipe: bytes read while looking for a header

  ElementType type_ = ElementType::kFloat32;
  bool big_endian_ = false;
  bool npy_ = false;
  std::optional<uint64_t> count_;
  std::optional<uint64_t> row_length_;
  uint64_t rows_ = 0;
  uint64_t bytes_read_ = 0;  // of the array, by Read
  std::vector<std::byte> small_;
  std::optional<ArrayView> memory_;
};

}  // namespace reduction::cli
