#include "tests/bench/loop_variants.cuh"

namespace reduction::bench {

using namespace kernels::cuda;

void AddFloat32Variants(std::vector<LoopVariant>* variants) {
  AddVariants<float, kSumSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 4>{}, Loop<2, 8, 3>{},
                                     Loop<4, 4, 3>{}, Loop<4, 5, 3>{}, Loop<4, 10, 1>{});
  AddVariants<float, kExtremaSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 4>{},
                                         Loop<4, 4, 4>{});
  AddVariants<float, kSevenSet, false>(variants, Loop<1, 8, 3>{}, Loop<2, 5, 3>{}, Loop<2, 6, 2>{},
                                       Loop<4, 4, 2>{});
  AddVariants<float, kAllSet, false>(variants, Loop<1, 6, 2>{}, Loop<1, 10, 1>{}, Loop<2, 5, 2>{},
                                     Loop<2, 6, 1>{});
  AddVariants<float, kDotSet, false>(variants, Loop<1, 6, 4>{}, Loop<2, 4, 3>{}, Loop<2, 6, 3>{});
  AddVariants<float, kDotSet, true>(variants, Loop<1, 6, 3>{}, Loop<2, 4, 3>{}, Loop<2, 6, 3>{});
}

}  // namespace reduction::bench
