#include "kernels/cuda/leaf_pass.cuh"

template const void* reduction::kernels::cuda::LeafPassOf<int8_t>(reduction::kernels::Components,
                                                                  reduction::kernels::NanPolicy,
                                                                  bool);
