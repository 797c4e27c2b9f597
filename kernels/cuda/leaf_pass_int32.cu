#include "kernels/cuda/leaf_pass.cuh"

template reduction::kernels::cuda::LeafKernel reduction::kernels::cuda::LeafPassOf<int32_t>(
    reduction::kernels::Components, reduction::kernels::NanPolicy, bool);
