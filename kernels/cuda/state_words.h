// Nodes as words: a State's fields that a set has, each 64 bits wide, the count first and the
// others in the order of VisitFields().
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

// Of a node with every component, of integers.
inline constexpr size_t kMaxNodeWords = 15;

// How many words a node of `components` has.
constexpr uint32_t StateWords(bool floating, Components components) {
  const auto words = [components](Components part, uint32_t count) {
    return (components & part) != 0 ? count : 0;
  };
  return 1 + words(kSumComponent | kDotComponent, floating ? 1 : 2) + words(kExtremaComponent, 2) +
         words(kArgComponent, 2) + words(kSquaresComponent, 1) + words(kMomentsComponent, 3) +
         words(kL1Component, 1) + words(kNanCountComponent, 1) + words(kNonzeroComponent, 1);
}

// Which of those words is the first of a component's fields.
template <bool kFloating, Components kComponents>
struct NodeWords {
  static constexpr uint32_t Before(Components later) {
    return StateWords(kFloating, kComponents & ~later);
  }
  static constexpr Components kFromNonzero = kNonzeroComponent;
  static constexpr Components kFromNans = kFromNonzero | kNanCountComponent;
  static constexpr Components kFromL1 = kFromNans | kL1Component;
  static constexpr Components kFromMoments = kFromL1 | kMomentsComponent;
  static constexpr Components kFromSquares = kFromMoments | kSquaresComponent;
  static constexpr Components kFromArg = kFromSquares | kArgComponent;
  static constexpr Components kFromMin = kFromArg | kExtremaComponent;
  static constexpr uint32_t kSum = 1;
  static constexpr uint32_t kMin = Before(kFromMin);
  static constexpr uint32_t kArg = Before(kFromArg);
  static constexpr uint32_t kSquares = Before(kFromSquares);
  static constexpr uint32_t kMoments = Before(kFromMoments);
  static constexpr uint32_t kL1 = Before(kFromL1);
  static constexpr uint32_t kNans = Before(kFromNans);
  static constexpr uint32_t kNonzero = Before(kFromNonzero);
};

// The state of a node: its word w is first[w * stride].
State StateOfWords(bool floating, Components components, const uint64_t* first, uint64_t stride);

}  // namespace reduction::kernels::cuda
