#include "tests/bench/loop_variants.cuh"

namespace reduction::bench {

using namespace kernels::cuda;
using kernels::Float16;

void AddFloat16Variants(std::vector<LoopVariant>* variants) {
  AddVariants<Float16, kSumSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 3>{}, Loop<2, 8, 3>{},
                                       Loop<4, 4, 3>{});
  AddVariants<Float16, kExtremaSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 4>{},
                                           Loop<4, 4, 3>{});
  AddVariants<Float16, kAllSet, false>(variants, Loop<1, 8, 1>{}, Loop<1, 11, 1>{}, Loop<2, 6, 1>{},
                                       Loop<1, 6, 2>{});
  AddVariants<Float16, kDotSet, false>(variants, Loop<1, 6, 3>{}, Loop<2, 4, 3>{}, Loop<2, 6, 2>{});
  AddVariants<Float16, kDotSet, true>(variants, Loop<1, 6, 3>{}, Loop<2, 4, 2>{});
}

}  // namespace reduction::bench
