// Checked CUDA calls. CudaError stays inside kernels/cuda.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace reduction::kernels::cuda {

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::source_location& where);
};

// Throws CudaError unless `code` is cudaSuccess. Clears the thread's last error, so that a refusal
// that is no loss of the device (out of memory) does not surface again in a later call.
void Check(cudaError_t code, const std::source_location& where = std::source_location::current());

// Makes `device` the calling thread's current device.
void UseDevice(int device, const std::source_location& where = std::source_location::current());

}  // namespace reduction::kernels::cuda
