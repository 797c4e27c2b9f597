// Shapes of launches, as data: no result depends on them. Measured on an H200.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "kernels/cuda/pass_args.h"

namespace reduction::kernels::cuda {

struct LaunchShape {
  // That a block takes: of atomics at most kMaxUnitLeaves; of a sum's two passes a power of two, at
  // most kMaxRunLeaves.
  uint32_t unit_leaves = 1;
  bool ticket = false;  // one launch, whose last block folds: to kTicketLeaves, without runs
  // Two passes reduce at most 2^chunk_level leaves at a time: what the workspace has room for.
  uint32_t chunk_level = kMaxChunkLevel;
};

struct TunedShape {
  uint64_t max_leaves;  // for arrays up to this length
  LaunchShape shape;
};

// By element type: those of 4 bytes, floats of 2, and all others.
inline constexpr TunedShape kTwoPassShapesOf4[] = {
    {128, {.ticket = true}},  // one launch costs the host half of two
    {512, {}},
    {1024, {.unit_leaves = 2}},
    {2048, {.unit_leaves = 4}},
    {8192, {.unit_leaves = 8}},
    {UINT64_MAX, {}},
};
inline constexpr TunedShape kTwoPassShapesOfHalves[] = {
    {128, {.ticket = true}},
    {UINT64_MAX, {}},
};
inline constexpr TunedShape kTwoPassShapes[] = {
    {128, {.ticket = true}},    {1024, {}},       {2048, {.unit_leaves = 2}},
    {8192, {.unit_leaves = 4}}, {UINT64_MAX, {}},
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

constexpr LaunchShape TwoPassShape(size_t element_bytes, bool floating, uint64_t leaves) {
  if (element_bytes == 4) return ShapeFor(kTwoPassShapesOf4, leaves);
  if (element_bytes == 2 && floating) return ShapeFor(kTwoPassShapesOfHalves, leaves);
  return ShapeFor(kTwoPassShapes, leaves);
}

}  // namespace reduction::kernels::cuda
