#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<Bfloat16>(Components, NanPolicy);
template const void* RunPassOf<Bfloat16>(NanPolicy);
template const void* AtomicPassOf<Bfloat16>(Components, NanPolicy);
template const void* SegmentPassOf<Bfloat16>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
