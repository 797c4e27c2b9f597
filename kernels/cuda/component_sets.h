// The sets of components that kernels are compiled for; a plan is served by the smallest superset.
#pragma once

#include "kernels/statistics.h"

namespace reduction::kernels::cuda {

inline constexpr Components kSumSet = kSumComponent;
inline constexpr Components kExtremaSet = kExtremaComponent;
inline constexpr Components kSevenSet =
    kSumComponent | kSquaresComponent | kExtremaComponent | kArgComponent | kNanCountComponent;
inline constexpr Components kMomentsSet = kSumComponent | kMomentsComponent;
inline constexpr Components kAllSet = kAllOneArrayComponents;
inline constexpr Components kDotSet = kDotComponent;

// From the smallest to the largest.
inline constexpr Components kComponentSets[] = {kSumSet,   kExtremaSet, kMomentsSet,
                                                kSevenSet, kAllSet,     kDotSet};

// Those of algorithm ATOMIC: all that AtomicServes() names.
inline constexpr Components kAtomicSets[] = {kSumSet, kExtremaSet, kSumSet | kExtremaSet, kDotSet};

static_assert([] {
  for (Components set = 1; set <= (kAllSet | kDotSet); ++set) {
    bool compiled = false;
    for (const Components atomic : kAtomicSets) compiled = compiled || atomic == set;
    if (AtomicServes(set) != compiled) return false;
  }
  return true;
}());

// `components` is of one array or kDotComponent.
constexpr Components ServingSet(Components components) {
  for (const Components set : kComponentSets) {
    if ((components & ~set) == 0) return set;
  }
  return kAllSet;
}

// Threads of a block of the fold pass: many where nodes are small, so that one block folds most.
constexpr uint32_t FoldPassThreads(Components set) {
  return set == kSumSet || set == kExtremaSet || set == kDotSet ? 1024 : 256;
}

}  // namespace reduction::kernels::cuda
