#include "kernels/cuda/cuda_error.h"

#include <string_view>

namespace reduction::kernels::cuda {
namespace {

std::string Describe(cudaError_t code, const std::source_location& where) {
  std::string_view file = where.file_name();
  if (const size_t slash = file.rfind('/'); slash != std::string_view::npos) {
    file.remove_prefix(slash + 1);
  }
  std::string text = cudaGetErrorString(code);
  text.append(" (").append(cudaGetErrorName(code)).append(" at ").append(file);
  return text.append(":").append(std::to_string(where.line())).append(")");
}

}  // namespace

CudaError::CudaError(cudaError_t code, const std::source_location& where)
    : std::runtime_error(Describe(code, where)) {}

void Check(cudaError_t code, const std::source_location& where) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  throw CudaError(code, where);
}

void UseDevice(int device, const std::source_location& where) {
  Check(cudaSetDevice(device), where);
}

}  // namespace reduction::kernels::cuda
