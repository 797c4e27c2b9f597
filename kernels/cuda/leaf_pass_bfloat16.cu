#include "kernels/cuda/leaf_pass.cuh"

template const void* reduction::kernels::cuda::LeafPassOf<reduction::kernels::Bfloat16>(
    reduction::kernels::Components, reduction::kernels::NanPolicy, bool);
