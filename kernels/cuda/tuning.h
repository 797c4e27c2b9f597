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
  bool ticket = false;        // the last block folds; only where its threads can take all nodes
  bool block_a_leaf = false;  // BlockLeafPassKernel, where it serves
};

struct TunedShape {
  uint64_t max_leaves;  // for arrays up to this length
  LaunchShape shape;
};

inline constexpr TunedShape kTwoPassShapes[] = {
    {512, {4, 0, 0, true, true}}, {2048, {4, 0, 0}},   {8192, {4, 1, 0}},
    {65536, {1, 0, 0}},           {131072, {1, 0, 0}}, {UINT64_MAX, {1, 1, 0}},
};
inline constexpr TunedShape kAtomicShapes[] = {
    {512, {4, 0, 0, false, true}}, {2048, {8, 0, 4}},       {4096, {8, 1, 8}}, {65536, {8, 1, 3}},
    {131072, {8, 2, 3}},           {UINT64_MAX, {8, 3, 3}},
};
// Launches of tasks that wait in a staging slot, by the leaves of all of them.
inline constexpr TunedShape kBatchShapes[] = {
    {512, {4, 0, 0}},
    {UINT64_MAX, {8, 1, 0}},
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
  uint32_t rows;        // of a batch: a power of two
  uint32_t stages;      // batches in a warp's ring: at least 3
  uint32_t min_blocks;  // of kMaxBlockWarps warps that fit a multiprocessor: bounds the registers
};

constexpr LoopShape TunedLoop(Components components, size_t element_bytes) {
  if (components == kAllSet) return {1, 8, element_bytes <= 2 ? 1u : 2u};
  if (components == kDotSet) return {1, 5, 3};
  return {2, 5, components == kSevenSet || components == kMomentsSet ? 2u : 3u};
}

}  // namespace reduction::kernels::cuda
