#include "client/cli/segments.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace reduction::cli {
namespace {

// A value and a count of each fill the largest message, 2 GiB. A file says how many there are, and
// needs no bytes for them.
constexpr uint64_t kMostEmptyRows = uint64_t{1} << 27;

Status Unusable(const ArrayInput& input, const std::string& what) {
  return {StatusCode::kInvalidArgument, input.name() + ": " + what, {}, {}};
}

Result<std::vector<uint64_t>> ReadOffsets(const std::string& name) {
  Result<ArrayInput> input = ArrayInput::Open(name, {});
  if (!input.ok()) return input.status();
  if (input->type() != ElementType::kInt64 && input->type() != ElementType::kUint64) {
    return Unusable(*input, "holds " + std::string(ElementTypeName(input->type())) +
                                ": offsets of segments are int64 or uint64");
  }
  std::vector<uint64_t> offsets;
  std::vector<std::byte> piece(1 << 20);
  for (size_t got = piece.size(); got == piece.size();) {
    const Result<size_t> read = input->Read(piece);
    if (!read.ok()) return read.status();
    got = *read;
    const size_t before = offsets.size();
    offsets.resize(before + got / sizeof(uint64_t));
    if (got != 0) std::memcpy(&offsets[before], piece.data(), got);
  }
  if (offsets.empty()) return Unusable(*input, "has no offsets: n segments take n + 1");
  if (input->type() == ElementType::kInt64) {
    const auto negative = std::find_if(offsets.begin(), offsets.end(), [](uint64_t offset) {
      return static_cast<int64_t>(offset) < 0;
    });
    if (negative != offsets.end()) {
      return Unusable(*input, "offset " + std::to_string(negative - offsets.begin()) + " is " +
                                  std::to_string(static_cast<int64_t>(*negative)) +
                                  ": offsets count elements from 0");
    }
  }
  return offsets;
}

}  // namespace

Result<ArraySegments> ArraySegments::Read(const Arguments& arguments, const ArrayInput& array) {
  ArraySegments segments;
  if (arguments.segment_length) {
    segments.length_.elements = *arguments.segment_length;
    return segments;
  }
  if (arguments.rows) {
    if (!array.row_length()) {
      return Unusable(array,
                      "--rows takes a .npy file in C order: save numpy.ascontiguousarray(x)");
    }
    segments.length_.elements = *array.row_length();
    if (segments.length_.elements != 0) return segments;
    if (array.rows() > kMostEmptyRows) {
      return Unusable(array, "has more rows without elements than an answer can hold");
    }
    segments.offsets_.resize(array.rows() + 1);
    return segments;
  }
  Result<std::vector<uint64_t>> offsets = ReadOffsets(arguments.segment_offsets);
  if (!offsets.ok()) return offsets.status();
  segments.offsets_ = *std::move(offsets);
  return segments;
}

Segmentation ArraySegments::segmentation() const {
  if (offsets_.empty()) return length_;
  return std::span<const uint64_t>(offsets_);
}

}  // namespace reduction::cli
