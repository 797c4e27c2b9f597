// Launch shapes and loops, as data: no result depends on them. Those of single arrays come from
// sweeps on an H200 (reduction-kernel-sweep); the batch shapes are not measured yet.
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

// Sums of 4 and 8-byte elements: a block a leaf at every length, so that few rows of memory are
// open at a time.
inline constexpr TunedShape kTwoPassSumShapes[] = {
    {512, {4, 0, 0, true, true}},
    {UINT64_MAX, {4, 0, 0, false, true}},
};
inline constexpr TunedShape kTwoPassShapes[] = {
    {512, {4, 0, 0, true}},
    {2048, {4, 0, 0}},
    {8192, {4, 1, 0}},
    {UINT64_MAX, {2, 2, 0}},
};
// Of extrema, and of the sets that have them.
inline constexpr TunedShape kTwoPassExtremaShapes[] = {
    {512, {4, 0, 0, true}},
    {2048, {4, 0, 0}},
    {UINT64_MAX, {2, 1, 0}},
};
inline constexpr TunedShape kAtomicShapes[] = {
    {512, {4, 0, 0, false, true}},
    {2048, {4, 0, 0}},
    {16384, {4, 0, 6}},
    {UINT64_MAX, {8, 0, 3}},
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

constexpr LaunchShape TwoPassShape(Components set, size_t element_bytes, uint64_t leaves) {
  if (set == kSumSet && element_bytes >= 4) return ShapeFor(kTwoPassSumShapes, leaves);
  if (set == kExtremaSet || set == kSevenSet) return ShapeFor(kTwoPassExtremaShapes, leaves);
  return ShapeFor(kTwoPassShapes, leaves);
}

// How the loop over rows is compiled.
struct LoopShape {
  uint32_t rows;        // of a batch: a power of two
  uint32_t stages;      // batches in a warp's ring: at least 3
  uint32_t min_blocks;  // of kMaxBlockWarps warps that fit a multiprocessor: bounds the registers
};

constexpr LoopShape TunedLoop(Components components, size_t element_bytes) {
  if (components == kAllSet) return element_bytes <= 2 ? LoopShape{1, 6, 2} : LoopShape{2, 4, 2};
  if (components == kDotSet) return {1, 5, 3};
  return {2, 5, components == kSevenSet || components == kMomentsSet ? 2u : 3u};
}

}  // namespace reduction::kernels::cuda
