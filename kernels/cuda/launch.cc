#include "kernels/cuda/launch.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/pass_kernels.h"

namespace reduction::kernels::cuda {
namespace {

// The words of a node with every component.
constexpr size_t kMaxNodeWords = 15;

void LaunchKernel(const void* kernel, uint32_t blocks, uint32_t threads, bool dependent,
                  const PassArgs& args, CudaStreamView stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream.get();
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = dependent ? 1 : 0;
  void* parameters[] = {const_cast<PassArgs*>(&args)};
  Check(cudaLaunchKernelExC(&config, kernel, parameters));
}

}  // namespace

DeviceTraits QueryTraits(int ordinal) {
  UseDevice(ordinal);
  DeviceTraits traits;
  traits.ordinal = ordinal;
  int multiprocessors = 0;
  Check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, ordinal));
  traits.multiprocessors = static_cast<uint32_t>(multiprocessors);
  // The device may be newer than the code it runs, which then does not wait for its predecessor.
  cudaFuncAttributes attributes = {};
  Check(cudaFuncGetAttributes(&attributes, FoldPassKernel(true, kSumSet)));
  traits.dependent_launch = attributes.ptxVersion >= 90;
  return traits;
}

void LoadKernels() {
  cudaFuncAttributes attributes = {};
  for (const Components set : kComponentSets) {
    Check(cudaFuncGetAttributes(&attributes, FoldPassKernel(true, set)));
    Check(cudaFuncGetAttributes(&attributes, FoldPassKernel(false, set)));
    for (const ElementType type : kAllElementTypes) {
      for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        Check(cudaFuncGetAttributes(&attributes, LeafPassKernel(type, set, policy, false)));
        Check(cudaFuncGetAttributes(&attributes, LeafPassKernel(type, set, policy, true)));
      }
    }
  }
}

Workspace::Workspace(uint32_t units, uint32_t tasks)
    : units_(units),
      nodes_(units * kMaxNodeWords * sizeof(uint64_t)),
      chunk_nodes_(kMaxFoldBlocks * kMaxNodeWords * sizeof(uint64_t)),
      cells_(tasks * sizeof(AtomicCell)),
      ticket_(sizeof(uint32_t)) {
  const std::vector<AtomicCell> cells(tasks);
  Check(
      cudaMemcpy(cells_.data(), cells.data(), tasks * sizeof(AtomicCell), cudaMemcpyHostToDevice));
  Check(cudaMemset(ticket_.data(), 0, ticket_.size()));
  // Lanes' streams do not wait for the default stream.
  Check(cudaDeviceSynchronize());
}

void Workspace::Bind(PassArgs* args) const {
  args->nodes = reinterpret_cast<uint64_t*>(nodes_.data());
  args->chunk_nodes = reinterpret_cast<uint64_t*>(chunk_nodes_.data());
  args->cells = reinterpret_cast<AtomicCell*>(cells_.data());
  args->ticket = reinterpret_cast<uint32_t*>(ticket_.data());
}

LaunchShape ClampShape(LaunchShape shape, uint64_t leaves, uint32_t max_units) {
  shape.block_warps = std::clamp(shape.block_warps, 1u, kMaxBlockWarps);
  while (shape.run_level < kMaxRunLevel && (leaves >> shape.run_level) >= max_units) {
    ++shape.run_level;
  }
  shape.run_level = std::min(shape.run_level, kMaxRunLevel);
  const uint64_t units = (leaves >> shape.run_level) + 1;
  if (units > shape.block_warps * kWarpThreads * kFoldNodesPerThread) shape.ticket = false;
  return shape;
}

void LaunchPasses(const DeviceTraits& traits, const Plan& plan, bool realign, bool fold,
                  const LaunchShape& shape, const PassArgs& args, CudaStreamView stream) {
  const Components set = ServingSet(plan.components);
  uint32_t blocks = (args.unit_count + shape.block_warps - 1) / shape.block_warps;
  if (shape.blocks_per_multiprocessor != 0) {
    blocks = std::min(blocks, shape.blocks_per_multiprocessor * traits.multiprocessors);
  }
  LaunchKernel(LeafPassKernel(plan.type, set, plan.nan_policy, realign), blocks,
               shape.block_warps * kWarpThreads, false, args, stream);
  if (args.finish != Finish::kFoldPass || !fold) return;
  const uint32_t fold_blocks =
      args.tasks != nullptr ? args.task_count : (args.unit_count + kFoldNodes - 1) / kFoldNodes;
  LaunchKernel(FoldPassKernel(IsFloating(plan.type), set), fold_blocks, kFoldThreads,
               traits.dependent_launch, args, stream);
}

}  // namespace reduction::kernels::cuda
