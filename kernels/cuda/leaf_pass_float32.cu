#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<float>(Components, NanPolicy);
template const void* RunPassOf<float>(NanPolicy);
template const void* AtomicPassOf<float>(Components, NanPolicy);
template const void* SegmentPassOf<float>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
