// Reductions and shuffles over the 32 threads of a warp. All of them must call.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/pass_args.h"
#include "kernels/cuda/state_words.h"
#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

inline constexpr uint32_t kWholeWarp = 0xffffffffu;

__device__ inline uint32_t WarpLane() { return threadIdx.x % kWarpThreads; }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
inline constexpr bool kHasRedux = true;  // one instruction for 32-bit integers
#else
inline constexpr bool kHasRedux = false;
#endif

// combine(x, y) must be associative and commutative, up to the rounding that the fixed order's
// tree has: adjacent pairs, then pairs of pairs, …. Every thread gets the result.
template <class N, class F>
__device__ inline N WarpReduce(N x, F&& combine) {
#pragma unroll
  for (uint32_t step = 1; step < kWarpThreads; step *= 2) {
    x = combine(x, __shfl_xor_sync(kWholeWarp, x, step));
  }
  return x;
}

template <class N>
__device__ inline N WarpSum(N x) {
  if constexpr (kHasRedux && std::is_same_v<N, uint32_t>) {
    return __reduce_add_sync(kWholeWarp, x);
  } else {
    return WarpReduce(x, [](N a, N b) { return a + b; });
  }
}

template <class N>
__device__ inline N WarpMin(N x) {
  if constexpr (kHasRedux && sizeof(N) == 4) {
    return __reduce_min_sync(kWholeWarp, x);
  } else {
    return WarpReduce(x, [](N a, N b) { return b < a ? b : a; });
  }
}

template <class N>
__device__ inline N WarpMax(N x) {
  if constexpr (kHasRedux && sizeof(N) == 4) {
    return __reduce_max_sync(kWholeWarp, x);
  } else {
    return WarpReduce(x, [](N a, N b) { return b > a ? b : a; });
  }
}

// Calls f with each field that a state of `kComponents` has, the count first, always in one order.
template <bool kFloating, Components kComponents, class S, class F>
__device__ inline void VisitFields(S& state, F&& f) {
  f(state.count);
  if constexpr ((kComponents & (kSumComponent | kDotComponent)) != 0) {
    if constexpr (kFloating) {
      f(state.sum);
    } else {
      f(state.integer_sum.low);
      f(state.integer_sum.high);
    }
  }
  if constexpr ((kComponents & kExtremaComponent) != 0) {
    f(state.min_key);
    f(state.max_key);
  }
  if constexpr ((kComponents & kArgComponent) != 0) {
    f(state.argmin);
    f(state.argmax);
  }
  if constexpr ((kComponents & kSquaresComponent) != 0) f(state.sum_squares);
  if constexpr ((kComponents & kMomentsComponent) != 0) {
    f(state.shift);
    f(state.s1);
    f(state.m2);
  }
  if constexpr ((kComponents & kL1Component) != 0) f(state.l1);
  if constexpr ((kComponents & kNanCountComponent) != 0) f(state.nan_count);
  if constexpr ((kComponents & kNonzeroComponent) != 0) f(state.nonzero_count);
}

// Copies those fields, and no others: to shared memory, or to a result slot on the host.
template <bool kFloating, Components kComponents>
__device__ inline void CopyFields(State from, State* to) {
  const char* const base = reinterpret_cast<const char*>(&from);
  VisitFields<kFloating, kComponents>(from, [base, to](auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    char* const place =
        reinterpret_cast<char*>(to) + (reinterpret_cast<const char*>(&field) - base);
    *reinterpret_cast<Field*>(place) = field;
  });
}

// Combines the states of threads 0 to count - 1 of the warp by adjacent pairs, an odd last one
// passing up: the order of the binary counter. Thread 0 gets the result. 1 <= count <= 32.
template <bool kFloating, Components kComponents>
__device__ inline State WarpTree(State state, uint32_t count) {
  const uint32_t lane = WarpLane();
#pragma unroll 1
  for (uint32_t step = 1; step < count; step *= 2) {
    State right = state;
    VisitFields<kFloating, kComponents>(
        right, [step](auto& field) { field = __shfl_down_sync(kWholeWarp, field, step); });
    if (lane % (2 * step) == 0 && lane + step < count) {
      state = Combine<kFloating, kComponents>(state, right);
    }
  }
  return state;
}

}  // namespace reduction::kernels::cuda
