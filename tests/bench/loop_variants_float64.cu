#include "tests/bench/loop_variants.cuh"

namespace reduction::bench {

using namespace kernels::cuda;

void AddFloat64Variants(std::vector<LoopVariant>* variants) {
  AddVariants<double, kSumSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 4>{}, Loop<4, 4, 3>{});
  AddVariants<double, kExtremaSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 4>{},
                                          Loop<4, 4, 3>{});
  AddVariants<double, kDotSet, false>(variants, Loop<1, 6, 4>{}, Loop<2, 4, 3>{});
  AddVariants<double, kDotSet, true>(variants, Loop<1, 6, 3>{}, Loop<2, 4, 3>{});
}

}  // namespace reduction::bench
