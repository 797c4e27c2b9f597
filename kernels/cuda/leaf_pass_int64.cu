#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<int64_t>(Components, NanPolicy);
template const void* RunPassOf<int64_t>(NanPolicy);
template const void* AtomicPassOf<int64_t>(Components, NanPolicy);
template const void* SegmentPassOf<int64_t>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
