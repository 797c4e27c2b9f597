#include "kernels/cuda/pass_kernels.h"

namespace reduction::kernels::cuda {

LeafKernel LeafPassKernel(ElementType type, Components set, NanPolicy nan_policy, bool realign) {
  return DispatchElementType(type, [=](auto tag) {
    return LeafPassOf<typename decltype(tag)::type>(set, nan_policy, realign);
  });
}

}  // namespace reduction::kernels::cuda
