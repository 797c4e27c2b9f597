#include "client/cli/input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "client/cli/npy.h"

namespace reduction::cli {
namespace {

// Smaller files are read: mapping them would not pay.
constexpr uint64_t kMapFrom = 1 << 20;

template <class Word>
void SwapWords(std::span<std::byte> bytes) {
  for (size_t i = 0; i + sizeof(Word) <= bytes.size(); i += sizeof(Word)) {
    std::reverse(bytes.begin() + i, bytes.begin() + i + sizeof(Word));
  }
}

void SwapElements(size_t element_size, std::span<std::byte> bytes) {
  if (element_size == 2) SwapWords<uint16_t>(bytes);
  if (element_size == 4) SwapWords<uint32_t>(bytes);
  if (element_size == 8) SwapWords<uint64_t>(bytes);
}

}  // namespace

FileHandle::FileHandle(FileHandle&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), mapping_(std::exchange(other.mapping_, {})) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

FileHandle::~FileHandle() {
  if (!mapping_.empty()) munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
  if (fd_ > STDERR_FILENO) close(fd_);
}

std::span<const std::byte> FileHandle::Map(uint64_t size) {
  void* const start = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, 0);
  if (start == MAP_FAILED) return {};
  madvise(start, size, MADV_SEQUENTIAL);
  mapping_ = {static_cast<const std::byte*>(start), size};
  return mapping_;
}

Result<ArrayInput> ArrayInput::Open(const std::string& name, std::optional<ElementType> dtype) {
  ArrayInput input;
  input.name_ = name == "-" ? "standard input" : name;
  input.file_ = FileHandle(name == "-" ? STDIN_FILENO : open(name.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat attributes;
  if (input.file_.fd() < 0 || fstat(input.file_.fd(), &attributes) != 0) {
    return input.ErrnoError("cannot open it");
  }
  if (S_ISDIR(attributes.st_mode)) {
    return input.Error(StatusCode::kInvalidArgument, "is a folder");
  }
  // Standard input may be a file that was read in part. Files without a size (/proc) are read like
  // pipes.
  const off_t start = lseek(input.file_.fd(), 0, SEEK_CUR);
  if (S_ISREG(attributes.st_mode) && start >= 0 && attributes.st_size > start) {
    input.seekable_ = true;
    input.cursor_ = static_cast<uint64_t>(start);
    input.file_size_ = static_cast<uint64_t>(attributes.st_size);
  }
  Status status = input.Recognize(dtype);
  if (status.ok() && input.seekable_) status = input.CheckFileSize();
  if (status.ok() && input.seekable_) status = input.Load();
  if (!status.ok()) return status;
  return input;
}

// Finds out what the file holds, and moves to the first byte of the array.
Status ArrayInput::Recognize(std::optional<ElementType> dtype) {
  std::string start(kNpyPreambleBytes, '\0');
  const Result<size_t> got = ReadRaw(std::as_writable_bytes(std::span(start)), start.size());
  if (!got.ok()) return got.status();
  start.resize(*got);
  if (!start.starts_with(kNpyMagic)) {
    if (!dtype.has_value() || name_.ends_with(".npy")) {
      return Error(StatusCode::kInvalidArgument,
                   dtype.has_value()
                       ? "is named .npy and is no .npy file"
                       : "is no .npy file: give the type of raw numbers with --dtype");
    }
    type_ = *dtype;
    if (seekable_) {
      cursor_ -= start.size();
    } else {
      pending_ = std::move(start);
    }
    return {};
  }
  const Result<size_t> data_offset = NpyDataOffset(start);
  if (!data_offset.ok()) return Error(data_offset.status().code, data_offset.status().message);
  const size_t have = start.size();
  start.resize(std::max(*data_offset, have));
  const std::span<std::byte> rest = std::as_writable_bytes(std::span(start)).subspan(have);
  const Result<size_t> more = ReadRaw(rest, rest.size());
  if (!more.ok()) return more.status();
  start.resize(have + *more);
  const Result<NpyHeader> header = ParseNpyHeader(start, dtype);
  if (!header.ok()) return Error(header.status().code, header.status().message);
  npy_ = true;
  type_ = header->type;
  big_endian_ = header->big_endian;
  count_ = header->count;
  row_length_ = header->row_length;
  rows_ = header->rows;
  return {};
}

Status ArrayInput::CheckFileSize() {
  const uint64_t bytes = file_size_ - cursor_;
  const size_t element_size = ElementSize(type_);
  if (!npy_) {
    if (bytes % element_size != 0) {
      return Error(StatusCode::kInvalidArgument, "has " + std::to_string(bytes) +
                                                     " bytes, which is no multiple of the " +
                                                     std::to_string(element_size) + " of a " +
                                                     std::string(ElementTypeName(type_)));
    }
    count_ = bytes / element_size;
  } else if (bytes != *count_ * element_size) {
    return Error(StatusCode::kInvalidArgument, "holds " + std::to_string(bytes) +
                                                   " bytes of data, and its header says " +
                                                   std::to_string(*count_ * element_size));
  }
  return {};
}

// Makes the array available in memory where that is good.
Status ArrayInput::Load() {
  const uint64_t data_start = cursor_;
  const uint64_t bytes = file_size_ - cursor_;
  if (bytes >= kMapFrom) {
    if (big_endian_) return {};
    const std::span<const std::byte> mapping = file_.Map(file_size_);
    if (!mapping.empty()) memory_ = ArrayView{type_, mapping.subspan(data_start)};
    return {};
  }
  small_.resize(bytes);
  const Result<size_t> got = Read(small_);
  if (!got.ok()) return got.status();
  small_.resize(*got);
  memory_ = ArrayView{type_, small_};
  cursor_ = data_start;
  bytes_read_ = 0;
  return {};
}

Result<size_t> ArrayInput::ReadUnits(std::span<std::byte> out, size_t unit) {
  size_t wanted = out.size();
  uint64_t expected = 0;
  if (count_.has_value()) {
    expected = *count_ * ElementSize(type_);
    wanted = std::min<uint64_t>(wanted, expected - bytes_read_);
  }
  const Result<size_t> got = ReadRaw(out.first(wanted), unit);
  if (!got.ok()) return got;
  bytes_read_ += *got;
  const bool ended = *got < wanted && (*got == 0 || *got % unit != 0);
  if (count_.has_value() && ended) {
    return Error(StatusCode::kInvalidArgument, "ends after " + std::to_string(bytes_read_) +
                                                   " of " + std::to_string(expected) +
                                                   " bytes of data");
  }
  if (count_.has_value() && bytes_read_ == expected && wanted < out.size()) {
    std::byte extra{};
    const Result<size_t> after = ReadRaw({&extra, 1}, 1);
    if (!after.ok()) return after;
    if (*after != 0) {
      return Error(StatusCode::kInvalidArgument,
                   "goes on after the " + std::to_string(expected) + " bytes that its header says");
    }
  }
  if (ended && bytes_read_ % ElementSize(type_) != 0) {
    return Error(StatusCode::kInvalidArgument, "has " + std::to_string(bytes_read_) +
                                                   " bytes, which is no multiple of the " +
                                                   std::to_string(ElementSize(type_)) + " of a " +
                                                   std::string(ElementTypeName(type_)));
  }
  if (big_endian_) SwapElements(ElementSize(type_), out.first(*got));
  return got;
}

Result<size_t> ArrayInput::ReadRaw(std::span<std::byte> out, size_t unit) {
  size_t filled = std::min(pending_.size(), out.size());
  std::transform(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(filled), out.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  pending_.erase(0, filled);
  while (filled < out.size() && (filled == 0 || filled % unit != 0)) {
    const ssize_t got = seekable_ ? pread(file_.fd(), out.data() + filled, out.size() - filled,
                                          static_cast<off_t>(cursor_))
                                  : read(file_.fd(), out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("cannot read it");
    if (got == 0) break;
    filled += static_cast<size_t>(got);
    cursor_ += static_cast<uint64_t>(got);
  }
  return filled;
}

Status ArrayInput::CheckUnchanged() const {
  struct stat attributes;
  if (!seekable_ || fstat(file_.fd(), &attributes) != 0 ||
      static_cast<uint64_t>(attributes.st_size) >= file_size_) {
    return {};
  }
  return Error(StatusCode::kDataLoss, "became shorter while it was being read");
}

Status ArrayInput::Error(StatusCode code, const std::string& what) const {
  return {code, name_ + ": " + what, {}, {}};
}

Status ArrayInput::ErrnoError(const std::string& what) const {
  StatusCode code = StatusCode::kUnknown;
  if (errno == ENOENT) code = StatusCode::kNotFound;
  if (errno == EACCES || errno == EPERM) code = StatusCode::kPermissionDenied;
  return Error(code, what + ": " + std::strerror(errno));
}

}  // namespace reduction::cli
