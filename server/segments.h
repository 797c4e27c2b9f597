// Where the segments of an array begin and end, as a request tells it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/admission.h"
#include "server/refusal.h"

namespace reduction::server {

// Written while a request comes in, then read: not thread-safe.
class Segments {
 public:
  // `field` names the message Segments of the request in refusals. `elements`: of the array, where
  // they are known.
  Segments(Admission& admission, std::string field, std::optional<uint64_t> elements)
      : admission_(admission),
        field_(std::move(field)),
        elements_(elements),
        lease_(admission.NewLease()) {}

  // The fields of Segments; `offsets` as in Append().
  std::optional<Refusal> Start(uint64_t length, std::string_view offsets);
  // More offsets: little-endian numbers of eight bytes each.
  std::optional<Refusal> Append(std::string_view offsets);
  // There are no more offsets. `bytes_per_segment`: what the results of a segment take.
  std::optional<Refusal> Close(size_t bytes_per_segment);
  bool closed() const { return closed_; }
  // That many elements have come, perhaps not all; after Close().
  std::optional<Refusal> CheckReceived(uint64_t elements) const;
  // That many were all; after Close().
  std::optional<Refusal> CheckAll(uint64_t elements) const;

  // How many segments there are: absent where only the end of the array will tell.
  std::optional<uint64_t> count() const;
  // Elements of segment `index`, which is below count() where that is known.
  uint64_t length(uint64_t index) const {
    return length_ != 0 ? length_ : offset(index + 1) - offset(index);
  }

 private:
  static constexpr size_t kBlockOffsets = 8192;

  uint64_t offset(uint64_t index) const {
    return blocks_[index / kBlockOffsets][index % kBlockOffsets];
  }
  std::optional<Refusal> CheckOffset(uint64_t value) const;
  Refusal Bad(const std::string& field, const std::string& message) const;
  std::string NameOf(uint64_t index) const;

  Admission& admission_;
  const std::string field_;
  const std::optional<uint64_t> elements_;
  uint64_t length_ = 0;  // 0: by offsets
  uint64_t offset_count_ = 0;
  std::vector<std::unique_ptr<uint64_t[]>> blocks_;  // of kBlockOffsets offsets
  SegmentMemory::Lease lease_;
  bool closed_ = false;
};

// A place in an array of segments, moved from left to right.
class SegmentCursor {
 public:
  explicit SegmentCursor(const Segments& segments) : segments_(segments) { Load(); }

  // Whether all segments are done. False where their number is not known.
  bool at_end() const { return count_ && index_ == *count_; }
  uint64_t length() const { return length_; }        // of the segment here
  uint64_t rest() const { return length_ - done_; }  // its elements that are still to come
  bool at_start() const { return done_ == 0; }
  // Within the segment.
  void Advance(uint64_t elements) { done_ += elements; }
  void NextSegment() {
    ++index_;
    Load();
  }

 private:
  void Load() {
    done_ = 0;
    length_ = at_end() ? 0 : segments_.length(index_);
  }

  const Segments& segments_;
  const std::optional<uint64_t> count_ = segments_.count();
  uint64_t index_ = 0;
  uint64_t length_ = 0;
  uint64_t done_ = 0;
};

}  // namespace reduction::server
