#include "tests/bench/loop_variants.cuh"

namespace reduction::bench {

using namespace kernels::cuda;

void AddIntegerVariants(std::vector<LoopVariant>* variants) {
  AddVariants<int32_t, kSumSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 4>{}, Loop<4, 4, 4>{});
  AddVariants<int32_t, kExtremaSet, false>(variants, Loop<2, 5, 4>{}, Loop<4, 4, 4>{});
  AddVariants<int32_t, kDotSet, false>(variants, Loop<1, 6, 4>{}, Loop<2, 4, 4>{});
  AddVariants<int16_t, kSumSet, false>(variants, Loop<2, 5, 4>{}, Loop<4, 4, 4>{});
  AddVariants<int16_t, kDotSet, false>(variants, Loop<1, 6, 4>{}, Loop<2, 4, 4>{});
  AddVariants<int8_t, kSumSet, false>(variants, Loop<1, 8, 4>{}, Loop<2, 5, 4>{}, Loop<4, 4, 4>{});
  AddVariants<int8_t, kExtremaSet, false>(variants, Loop<2, 5, 4>{}, Loop<4, 4, 3>{});
  AddVariants<int8_t, kDotSet, false>(variants, Loop<1, 6, 4>{}, Loop<2, 4, 4>{});
  AddVariants<int8_t, kDotSet, true>(variants, Loop<1, 6, 4>{}, Loop<2, 4, 3>{});
}

}  // namespace reduction::bench
