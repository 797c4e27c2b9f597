// What V6 brings; V7 and the handbook's kernels build on it.
#pragma once

namespace reduction::kernels::ladder {

// The sum of the warp's values, for its first thread. All 32 threads call. Values go from register
// to register: no shared memory, and the shuffle itself is the barrier.
template <class T>
__device__ inline T WarpSum(T own) {
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffffu, own, step);
  return own;
}

// The sum of the block's values, for thread 0. All threads call, once a kernel. Shared memory holds
// one value a warp, and one barrier of the block is left.
template <unsigned kThreads, class T>
__device__ inline T BlockSum(T own) {
  constexpr unsigned kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && kWarps <= 32);
  __shared__ T warps[kWarps];
  const unsigned tid = threadIdx.x;
  own = WarpSum(own);
  if (tid % 32 == 0) warps[tid / 32] = own;
  __syncthreads();
  if (tid < 32) own = WarpSum(tid < kWarps ? warps[tid] : T{0});
  return own;
}

}  // namespace reduction::kernels::ladder
