// How variants are made.
#pragma once

#include "kernels/cuda/leaf_pass.cuh"
#include "tests/bench/loop_variants.h"

namespace reduction::bench {

// Batches of kRows rows, kStages of them in a ring, at most 65536 / (256 * kMinBlocks) registers.
template <uint32_t kRows, uint32_t kStages, uint32_t kMinBlocks>
struct Loop {};

template <class T, kernels::Components kSet, bool kRealign, uint32_t... kRows, uint32_t... kStages,
          uint32_t... kMinBlocks>
void AddVariants(std::vector<LoopVariant>* variants, Loop<kRows, kStages, kMinBlocks>...) {
  (variants->push_back(
       {kernels::ElementTypeOf<T>(),
        kSet,
        kRealign,
        {kRows, kStages, kMinBlocks},
        kernels::cuda::LeafKernelOf<T, kSet, kRealign, kRows, kStages>(
            reinterpret_cast<const void*>(
                &kernels::cuda::LeafPass<T, kSet, false, kRealign, kRows, kStages, kMinBlocks>))}),
   ...);
}

}  // namespace reduction::bench
