#include "kernels/cuda/leaf_pass.cuh"

template const void* reduction::kernels::cuda::LeafPassOf<double>(reduction::kernels::Components,
                                                                  reduction::kernels::NanPolicy,
                                                                  bool);
