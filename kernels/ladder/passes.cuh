// How the steps launch their kernels: partials are an array too, so a next pass sums them.
#pragma once

#include <algorithm>

#include "kernels/cuda/cuda_error.h"
#include "kernels/ladder/ladder.h"

namespace reduction::kernels::ladder {

// Block b of kBlockThreads threads writes the sum of its share of x to sums[b].
template <class T>
using SumKernel = void(const T* x, size_t count, T* sums);

// An empty array takes a block too: it writes the 0.
inline unsigned BlocksFor(size_t count, size_t block_elements) {
  return static_cast<unsigned>(std::max<size_t>(1, (count + block_elements - 1) / block_elements));
}

// Blocks of a grid that strides: as many as the device holds, and no more than have work.
inline unsigned StridingBlocks(size_t count, size_t block_elements,
                               unsigned blocks_per_multiprocessor) {
  int device = 0;
  int multiprocessors = 0;
  cuda::Check(cudaGetDevice(&device));
  cuda::Check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return std::min(static_cast<unsigned>(multiprocessors) * blocks_per_multiprocessor,
                  BlocksFor(count, block_elements));
}

template <class T>
void LaunchPass(SumKernel<T>* kernel, unsigned blocks, const Sum<T>& sum, T* sums) {
  kernel<<<blocks, kBlockThreads, 0, sum.stream.get()>>>(sum.x, sum.count, sums);
  cuda::Check(cudaGetLastError());
}

// For kernels whose every block sums block_elements elements: passes until one block is left.
template <class T>
void LaunchPasses(SumKernel<T>* kernel, size_t block_elements, Sum<T> sum) {
  unsigned blocks = BlocksFor(sum.count, block_elements);
  while (blocks > 1) {
    LaunchPass(kernel, blocks, sum, sum.workspace);
    sum.x = sum.workspace;
    sum.count = blocks;
    sum.workspace += blocks;
    blocks = BlocksFor(sum.count, block_elements);
  }
  LaunchPass(kernel, 1, sum, sum.result);
}

// For kernels whose grid strides, which sum any count with any grid: `blocks` blocks, then one.
template <class T>
void LaunchTwoPasses(SumKernel<T>* kernel, unsigned blocks, Sum<T> sum) {
  if (blocks > 1) {
    LaunchPass(kernel, blocks, sum, sum.workspace);
    sum.x = sum.workspace;
    sum.count = blocks;
  }
  LaunchPass(kernel, 1, sum, sum.result);
}

}  // namespace reduction::kernels::ladder
