#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<double>(Components, NanPolicy);
template const void* RunPassOf<double>(NanPolicy);
template const void* AtomicPassOf<double>(Components, NanPolicy);
template const void* SegmentPassOf<double>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
