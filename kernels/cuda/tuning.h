// Launch shapes, as data: no result depends on them. Measured on an H200.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/pass_args.h"

namespace reduction::kernels::cuda {

struct LaunchShape {
  uint32_t block_warps = kMaxBlockWarps;   // 1 to kMaxBlockWarps
  uint32_t run_level = 0;                  // a unit is 2^run_level leaves, at most kMaxRunLevel
  uint32_t blocks_per_multiprocessor = 0;  // of a grid that strides; 0: a warp a unit
  bool ticket = false;  // the last block folds; only where its threads can take all nodes
};

struct TunedShape {
  uint64_t max_leaves;  // for arrays up to this length
  LaunchShape shape;
};

inline constexpr TunedShape kTwoPassShapes[] = {
    {1, {1, 0, 0, true}},      {64, {4, 0, 8, true}},      {512, {4, 0, 8, false}},
    {2048, {8, 0, 8, false}},  {4096, {8, 1, 8, false}},   {8192, {8, 1, 2, false}},
    {65536, {1, 1, 0, false}}, {131072, {1, 2, 0, false}}, {UINT64_MAX, {1, 3, 0, false}},
};
inline constexpr TunedShape kAtomicShapes[] = {
    {1, {1, 0, 0, false}},     {2048, {8, 0, 4, false}},   {4096, {8, 1, 8, false}},
    {65536, {8, 1, 3, false}}, {131072, {8, 2, 3, false}}, {UINT64_MAX, {8, 3, 3, false}},
};
// Launches of tasks that wait in a staging slot, by the leaves of all of them.
inline constexpr TunedShape kBatchShapes[] = {
    {512, {4, 0, 0, false}},
    {UINT64_MAX, {8, 1, 0, false}},
};

template <size_t kCount>
constexpr LaunchShape ShapeFor(const TunedShape (&shapes)[kCount], uint64_t leaves) {
  for (const TunedShape& tuned : shapes) {
    if (leaves <= tuned.max_leaves) return tuned.shape;
  }
  return shapes[kCount - 1].shape;
}

// How many rows a warp loads at a time, with as many more on their way: a power of two.
constexpr uint32_t RowsInFlight(Components components, size_t element_bytes, bool realign) {
  if (components == kDotSet) return realign ? 1 : 2;
  if (components == kAllSet) return element_bytes <= 2 ? 1 : 2;
  return 4;
}

// Blocks of kMaxBlockWarps warps that a multiprocessor should hold: bounds the registers.
constexpr uint32_t MinBlocks(Components components, size_t element_bytes) {
  if (components == kAllSet) return element_bytes <= 2 ? 1 : 2;
  if (components == kSevenSet || components == kMomentsSet || element_bytes <= 2) return 2;
  return 3;
}

}  // namespace reduction::kernels::cuda
