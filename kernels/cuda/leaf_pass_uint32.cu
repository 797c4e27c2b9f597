#include "kernels/cuda/leaf_pass.cuh"

template const void* reduction::kernels::cuda::LeafPassOf<uint32_t>(reduction::kernels::Components,
                                                                    reduction::kernels::NanPolicy,
                                                                    bool);
