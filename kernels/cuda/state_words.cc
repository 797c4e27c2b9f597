#include "kernels/cuda/state_words.h"

namespace reduction::kernels::cuda {

State StateOfWords(bool floating, Components components, const uint64_t* first, uint64_t stride) {
  State state;
  const auto take = [&](auto* field) {
    *field = BitCast<std::remove_pointer_t<decltype(field)>>(*first);
    first += stride;
  };
  const auto has = [components](Components part) { return (components & part) != 0; };
  take(&state.count);
  if (has(kSumComponent | kDotComponent)) {
    if (floating) {
      take(&state.sum);
    } else {
      take(&state.integer_sum.low);
      take(&state.integer_sum.high);
    }
  }
  if (has(kExtremaComponent)) {
    take(&state.min_key);
    take(&state.max_key);
  }
  if (has(kArgComponent)) {
    take(&state.argmin);
    take(&state.argmax);
  }
  if (has(kSquaresComponent)) take(&state.sum_squares);
  if (has(kMomentsComponent)) {
    take(&state.shift);
    take(&state.s1);
    take(&state.m2);
  }
  if (has(kL1Component)) take(&state.l1);
  if (has(kNanCountComponent)) take(&state.nan_count);
  if (has(kNonzeroComponent)) take(&state.nonzero_count);
  return state;
}

}  // namespace reduction::kernels::cuda
