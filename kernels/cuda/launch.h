// Launches of a reduction, below both whole arrays and lanes.
#pragma once

#include <cstdint>

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

  uint32_t max_units() const { return units_; }
  size_t bytes() const { return nodes_.size() + chunk_nodes_.size() + cells_.size(); }
  // Points args' nodes, chunk nodes, cells and ticket here.
  void Bind(PassArgs* args) const;

 private:
  uint32_t units_;
  DeviceBuffer nodes_;
  DeviceBuffer chunk_nodes_;
  DeviceBuffer cells_;
  DeviceBuffer ticket_;
};

// How many units of 2^run_level leaves an array has; at least 1.
constexpr uint64_t UnitCount(uint64_t leaves, uint32_t run_level) {
  const uint64_t run = uint64_t{1} << run_level;
  return leaves == 0 ? 1 : (leaves + run - 1) / run;
}

// A launch shape that `args` and the workspace's limit allow, as close to `shape` as can be.
LaunchShape ClampShape(LaunchShape shape, uint64_t leaves, uint32_t max_units);

// Launches the passes of `plan` over the units that `args` tell; args.finish says how they end.
// `fold`: a task has more than one unit. `variant`: a leaf pass to take instead of the tuned one.
// Throws CudaError when a launch is refused.
void LaunchPasses(const DeviceTraits& traits, const Plan& plan, bool realign, bool fold,
                  const LaunchShape& shape, const PassArgs& args, CudaStreamView stream,
                  const LeafKernel* variant = nullptr);

}  // namespace reduction::kernels::cuda
