// Stands in for the CUDA backend where there is no CUDA compiler.
#include "kernels/backend.h"

namespace reduction::kernels {

std::vector<std::unique_ptr<Backend>> CreateCudaBackends(std::string* reason) {
  *reason = "built without CUDA";
  return {};
}

}  // namespace reduction::kernels
