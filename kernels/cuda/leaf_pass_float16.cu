#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<Float16>(Components, NanPolicy);
template const void* RunPassOf<Float16>(NanPolicy);
template const void* AtomicPassOf<Float16>(Components, NanPolicy);
template const void* SegmentPassOf<Float16>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
