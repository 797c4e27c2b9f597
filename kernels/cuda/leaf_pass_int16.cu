#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<int16_t>(Components, NanPolicy);
template const void* RunPassOf<int16_t>(NanPolicy);
template const void* AtomicPassOf<int16_t>(Components, NanPolicy);
template const void* SegmentPassOf<int16_t>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
