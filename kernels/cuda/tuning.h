// Launch shapes and loops, as data: no result depends on them. Measured on an H200.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/pass_args.h"

namespace reduction::kernels::cuda {

struct LaunchShape {
  bool ticket = false;       // one launch, whose last block folds: to kTicketLeaves
  uint32_t unit_leaves = 1;  // that a block takes, one after the other; to kMaxUnitLeaves
  // Two passes reduce at most 2^chunk_level leaves at a time: what the workspace has room for.
  uint32_t chunk_level = kMaxChunkLevel;
};

struct TunedShape {
  uint64_t max_leaves;  // for arrays up to this length
  LaunchShape shape;
};

inline constexpr TunedShape kTwoPassShapes[] = {
    {kTicketLeaves, {.ticket = true}},
    {2048, {}},
    {8192, {.unit_leaves = 8}},  // of sums
    {UINT64_MAX, {}},
};
inline constexpr TunedShape kAtomicShapes[] = {
    {512, {}},
    {1024, {.unit_leaves = 2}},
    {2048, {.unit_leaves = 4}},
    {UINT64_MAX, {.unit_leaves = 8}},
};

template <size_t kCount>
constexpr LaunchShape ShapeFor(const TunedShape (&shapes)[kCount], uint64_t leaves) {
  for (const TunedShape& tuned : shapes) {
    if (leaves <= tuned.max_leaves) return tuned.shape;
  }
  return shapes[kCount - 1].shape;
}

// How the loop over rows is compiled.
struct LoopShape {
  uint32_t rows;        // on their way together: a power of two
  uint32_t min_blocks;  // that fit a multiprocessor: bounds the registers
};

constexpr LoopShape TunedLoop(Components components, size_t element_bytes, bool floating) {
  const uint32_t halves = element_bytes == 8 ? 2 : 1;  // blocks of half the threads
  if (components == kAllSet) {
    if (element_bytes == 4) return {32, 8};
    if (element_bytes == 8) return {16, 16};
    return {16, floating ? 7u : 5u};
  }
  if (components == kDotSet) return {16, (element_bytes == 2 && floating ? 5 : 6) * halves};
  if (components == kSevenSet || components == kMomentsSet) {
    if (element_bytes == 4) return {32, 8};
    return {16, 8 * halves};
  }
  if (element_bytes == 8) return {16, 16};
  return {element_bytes < 4 ? 16u : 32u, element_bytes == 1 ? 10u : 8u};
}

}  // namespace reduction::kernels::cuda
