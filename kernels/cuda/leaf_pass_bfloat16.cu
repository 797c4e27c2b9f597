#include "kernels/cuda/leaf_pass.cuh"

template reduction::kernels::cuda::LeafKernel
reduction::kernels::cuda::LeafPassOf<reduction::kernels::Bfloat16>(reduction::kernels::Components,
                                                                   reduction::kernels::NanPolicy,
                                                                   bool);
