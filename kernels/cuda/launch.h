// Launches of a reduction, below both whole arrays and lanes.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/pass_args.h"
#include "kernels/cuda/pass_kernels.h"
#include "kernels/cuda/tuning.h"
#include "kernels/statistics.h"

namespace reduction::kernels::cuda {

// What launches depend on.
struct DeviceTraits {
  int ordinal = 0;
  uint32_t multiprocessors = 1;
  bool dependent_launch = false;  // the kernels that run were built for programmatic launches
};
// Makes the device current.
DeviceTraits QueryTraits(int ordinal);

// Loads every kernel onto the current device, so that no first call has to.
void LoadKernels();

// Device memory that launches of one stream share. Of the current device; fixed size.
class Workspace {
 public:
  // For launches of at most `units` units and `tasks` tasks.
  Workspace(uint32_t units, uint32_t tasks);

  // Points args' nodes, chunk nodes, cells and ticket here.
  void Bind(PassArgs* args) const;

 private:
  DeviceBuffer nodes_;
  DeviceBuffer chunk_nodes_;
  DeviceBuffer cells_;
  DeviceBuffer ticket_;
};

// A launch shape that is possible, as close to `shape` as can be.
LaunchShape ClampShape(LaunchShape shape, const Plan& plan, uint64_t leaves);

// Launches a kernel; `dependent`: it may start before the launch before it ends, and waits itself.
void LaunchKernel(const void* kernel, uint32_t blocks, uint32_t threads, bool dependent,
                  std::span<void*> parameters, CudaStreamView stream);

// Launches the passes of `plan` over the leaves of args' tasks, or over the runs of leaves of one
// task; args.finish says how they end. `most_nodes`: of the task with the most leaves or runs; at
// most kFoldNodes where there are several tasks. Throws CudaError when a launch is refused.
void LaunchPasses(const DeviceTraits& traits, const Plan& plan, uint32_t most_nodes,
                  const PassArgs& args, CudaStreamView stream);

// Launches the one pass of a plan that atomics serve over the units of args' tasks.
void LaunchAtomicPass(const Plan& plan, const PassArgs& args, CudaStreamView stream);

}  // namespace reduction::kernels::cuda
