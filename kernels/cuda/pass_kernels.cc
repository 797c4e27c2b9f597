#include "kernels/cuda/pass_kernels.h"

#include "kernels/cuda/segment_kernels.h"

namespace reduction::kernels::cuda {

const void* LeafPassKernel(ElementType type, Components set, NanPolicy nan_policy) {
  return DispatchElementType(
      type, [=](auto tag) { return LeafPassOf<typename decltype(tag)::type>(set, nan_policy); });
}

const void* RunPassKernel(ElementType type, NanPolicy nan_policy) {
  return DispatchElementType(
      type, [=](auto tag) { return RunPassOf<typename decltype(tag)::type>(nan_policy); });
}

const void* AtomicPassKernel(ElementType type, Components components, NanPolicy nan_policy) {
  return DispatchElementType(type, [=](auto tag) {
    return AtomicPassOf<typename decltype(tag)::type>(components, nan_policy);
  });
}

const void* SegmentPassKernel(ElementType type, Components set, NanPolicy nan_policy,
                              uint64_t length) {
  return DispatchElementType(type, [=](auto tag) {
    return SegmentPassOf<typename decltype(tag)::type>(set, nan_policy, length);
  });
}

}  // namespace reduction::kernels::cuda
