// What the host tells the kernels of a segmented reduction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/pass_args.h"

namespace reduction::kernels::cuda {

// Segments of one array: of `length` elements each, or from offsets[s] to offsets[s + 1].
struct SegmentLayout {
  uint64_t segments = 0;
  uint64_t length = 0;                // where `offsets` is null
  const uint64_t* offsets = nullptr;  // segments + 1 of them, in memory of the device

  REDUCTION_HOST_DEVICE uint64_t Begin(uint64_t segment) const {
    return offsets != nullptr ? offsets[segment] : segment * length;
  }
  // Where `offsets` is null: the first segment that begins at element `at` or later. The array has
  // at most 2^32 elements: a short division.
  REDUCTION_HOST_DEVICE uint64_t FirstFrom(uint64_t at) const {
    if (at == 0) return 0;
    if (at <= length) return 1;  // also where the length is 2^32
    return static_cast<uint64_t>(static_cast<uint32_t>(at - 1) / static_cast<uint32_t>(length)) + 1;
  }
};

// The array is divided into windows as long as a leaf. A block reduces the leaves that start in its
// window: at most one of a segment that goes on (its node is number `window`), the first leaf of at
// most one segment of several leaves (its node is number windows + window), and whole segments.
struct SegmentArgs {
  const std::byte* x = nullptr;
  uint64_t count = 0;  // elements of the array
  SegmentLayout layout;
  uint32_t windows = 1;
  uint32_t* first_segment = nullptr;  // of each window: the first that starts in it or after it
  uint64_t* nodes = nullptr;          // 2 * windows of them
  uint64_t* results = nullptr;        // nodes of the segments: word w of s at w * segments + s
  // What is to be folded: groups of kFoldNodes leaves of a segment, then segments of several
  // groups.
  uint32_t* list_sizes = nullptr;  // of the two lists
  uint64_t* groups = nullptr;      // segment * 2^24 + number of the group in it
  uint64_t* parted = nullptr;      // segments
};

}  // namespace reduction::kernels::cuda
