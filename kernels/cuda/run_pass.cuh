// The first launch of a sum of many leaves: a block a run of leaves, which become one node. Rows of
// the next leaf are on their way while those of one are added, and the trees over the threads of
// all its leaves are one.
#pragma once

#include <cstdint>

#include "kernels/cuda/leaf_pass.cuh"

namespace reduction::kernels::cuda {

// The sums of leaves. All threads of the block call: each has its column's sum of every leaf. The
// threads of the first warp get the sum of leaf `leaf`.
template <class T>
__device__ inline double LeafSum(const double (&columns)[kMaxRunLeaves], uint32_t leaf) {
  __shared__ double roots[kRowWarps<T>][kMaxRunLeaves];
  const double root = WarpTrees(columns);
  if (WarpLane() < kMaxRunLeaves) roots[threadIdx.x / kWarpThreads][WarpLane()] = root;
  __syncthreads();
  const double left = roots[0][leaf] + roots[1][leaf];
  return kRowWarps<T> == 2 ? left : left + (roots[2][leaf] + roots[3][leaf]);
}

// Adds the rows of `leaves` >= 1 whole leaves at x, and calls end_leaf() after each. All threads of
// the block call, each for its word of the rows; it has about kRows of them on their way at any
// time.
template <uint32_t kRows, class T, class Sums, class EndLeaf>
__device__ inline void AddWholeLeaves(const T* x, uint32_t leaves, Sums* sums,
                                      const EndLeaf& end_leaf) {
  constexpr uint32_t kHalf = kRows / 2;
  constexpr uint32_t kSteps = kRowsPerLeaf / kHalf;
  static_assert(kSteps % 2 == 0);
  const Word<T> none[kHalf] = {};
  Word<T> halves[2][kHalf];
  Column<T> column(x, threadIdx.x);
  column.Load(0, halves[0]);
  column.Load(kHalf, halves[1]);
  // Adds a leaf, while rows of `next` set out where it has no more.
  const auto add_leaf = [&](const Column<T>* next) {
#pragma unroll
    for (uint32_t step = 0; step < kSteps; ++step) {
      Word<T>(&half)[kHalf] = halves[step % 2];
      sums->AddRows(half, none, step * kHalf);
      if (step + 2 < kSteps) {
        column.Load((step + 2) * kHalf, half);
      } else if (next != nullptr) {
        next->Load((step + 2 - kSteps) * kHalf, half);
      }
    }
    end_leaf();
  };
#pragma unroll 1
  for (uint32_t leaf = 1; leaf < leaves; ++leaf) {
    const Column<T> next(x + leaf * kLeafLanes<T>, threadIdx.x);
    add_leaf(&next);
    column = next;
  }
  add_leaf(nullptr);
}

// One-dimensional grid of a block of kRowWords<T> threads for every args.unit_leaves leaves of the
// one task, which has several such runs: a power of two, at most kMaxRunLeaves.
template <class T, bool kIgnoreNan, uint32_t kRows, uint32_t kMinBlocks>
__global__ void __launch_bounds__(kRowWords<T>, kMinBlocks)
    RunPass(const __grid_constant__ PassArgs args) {
  constexpr bool kFloating = kIsFloating<T>;
  using Sums = ColumnSums<T, kSumSet, kIgnoreNan>;
  __shared__ typename Sums::Share shares[kRowWarps<T>];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const uint32_t run = args.unit_leaves;
  const uint64_t run_lanes = uint64_t{run} * kLeafLanes<T>;
  const uint64_t start = blockIdx.x * run_lanes;
  const uint32_t count = static_cast<uint32_t>(min(args.single.count - start, run_lanes));
  const T* const x = reinterpret_cast<const T*>(args.single.x) + start;
  Sums sums;
  [[maybe_unused]] double columns[kMaxRunLeaves] = {};  // of the last leaves
  const auto end_leaf = [&] {
    if constexpr (kFloating) {
      // A constant index keeps them in registers.
#pragma unroll
      for (uint32_t i = 1; i < kMaxRunLeaves; ++i) columns[i - 1] = columns[i];
      columns[kMaxRunLeaves - 1] = sums.TakeColumn();
    }
  };
  if (count == run_lanes) {
    AddWholeLeaves<kRows>(x, run, &sums, end_leaf);
  } else {
#pragma unroll 1
    for (uint32_t leaf = 0; leaf < run; ++leaf) {
      const uint32_t at = leaf * kLeafLanes<T>;
      if (at < count) AddLeaf<kRows>(x + at, x + at, min(count - at, kLeafLanes<T>), &sums);
      end_leaf();
    }
  }
  sums.Write(count, threadIdx.x, &shares[threadIdx.x / kWarpThreads]);
  State state;
  if constexpr (kFloating) {
    state.sum = LeafSum<T>(columns, (kMaxRunLeaves - run + WarpLane()) % kMaxRunLeaves);
    if (threadIdx.x < kWarpThreads) {
      state.count = threadIdx.x == 0 ? Sums::Shares::Total(shares, count).count : 0;
      const uint32_t leaves = (count + kLeafLanes<T> - 1) / kLeafLanes<T>;
      state = WarpTree<kFloating, kSumSet>(state, leaves);
    }
  } else {
    __syncthreads();
    if (threadIdx.x == 0) state = Sums::Shares::Total(shares, count);
  }
  if (threadIdx.x == 0) {
    StoreNode<kFloating, kSumSet>(state, args.nodes, args.node_count, blockIdx.x);
  }
}

template <class T, bool kIgnoreNan>
const void* TunedRunPass() {
  constexpr LoopShape kLoop = TunedLoop(kSumSet, sizeof(T), kIsFloating<T>);
  return reinterpret_cast<const void*>(&RunPass<T, kIgnoreNan, kLoop.rows, kLoop.min_blocks>);
}

template <class T>
const void* RunPassOf(NanPolicy nan_policy) {
  if constexpr (kIsFloating<T>) {
    if (nan_policy == NanPolicy::kIgnore) return TunedRunPass<T, true>();
  }
  return TunedRunPass<T, false>();
}

}  // namespace reduction::kernels::cuda
