// Leaf passes with other loops than the tuned ones, for the sweep.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/component_sets.h"
#include "kernels/cuda/pass_kernels.h"
#include "kernels/cuda/tuning.h"

namespace reduction::bench {

struct LoopVariant {
  kernels::ElementType type;
  kernels::Components set;
  bool realign;
  kernels::cuda::LoopShape loop;
  kernels::cuda::LeafKernel kernel;
};

// Appends those of a type.
void AddFloat32Variants(std::vector<LoopVariant>* variants);
void AddFloat16Variants(std::vector<LoopVariant>* variants);
void AddFloat64Variants(std::vector<LoopVariant>* variants);
void AddIntegerVariants(std::vector<LoopVariant>* variants);

}  // namespace reduction::bench
