#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<uint64_t>(Components, NanPolicy);
template const void* RunPassOf<uint64_t>(NanPolicy);
template const void* AtomicPassOf<uint64_t>(Components, NanPolicy);
template const void* SegmentPassOf<uint64_t>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
