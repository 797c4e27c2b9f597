#include "kernels/cuda/atomic_pass.cuh"
#include "kernels/cuda/run_pass.cuh"
#include "kernels/cuda/segment_pass.cuh"

namespace reduction::kernels::cuda {

template const void* LeafPassOf<uint8_t>(Components, NanPolicy);
template const void* RunPassOf<uint8_t>(NanPolicy);
template const void* AtomicPassOf<uint8_t>(Components, NanPolicy);
template const void* SegmentPassOf<uint8_t>(Components, NanPolicy, uint64_t);

}  // namespace reduction::kernels::cuda
