#include "kernels/cuda/launch.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/pass_kernels.h"

namespace reduction::kernels::cuda {
namespace {

// The words of a node with every component, of integers.
constexpr size_t kMaxNodeWords = 15;

void LaunchKernel(const void* kernel, uint32_t blocks, uint32_t threads, uint32_t shared_bytes,
                  bool dependent, const PassArgs& args, CudaStreamView stream) {
  cudaLaunchConfig_t config = {};
  config.dynamicSmemBytes = shared_bytes;
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream.get();
  cudaLaunchAttribute attributes[2] = {};
  config.attrs = attributes;
#if CUDART_VERSION >= 13000
  // Rings want the room. One preference for all kernels: multiprocessors drain to change it.
  attributes[config.numAttrs].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
  attributes[config.numAttrs++].val.sharedMemCarveout = cudaSharedmemCarveoutMaxShared;
#endif
  if (dependent) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
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
        Check(cudaFuncGetAttributes(&attributes, LeafPassKernel(type, set, policy, false).address));
        Check(cudaFuncGetAttributes(&attributes, LeafPassKernel(type, set, policy, true).address));
        const void* const block_pass = BlockLeafPassKernel(type, policy);
        if (block_pass != nullptr) Check(cudaFuncGetAttributes(&attributes, block_pass));
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
  while (shape.run_level < kMaxRunLevel && UnitCount(leaves, shape.run_level) > max_units) {
    ++shape.run_level;
  }
  shape.run_level = std::min(shape.run_level, kMaxRunLevel);
  if (shape.run_level != 0) shape.block_a_leaf = false;
  if (shape.block_a_leaf) shape.block_warps = kBlockLeafThreads / kWarpThreads;
  if (UnitCount(leaves, shape.run_level) > shape.block_warps * kWarpThreads * kFoldNodesPerThread) {
    shape.ticket = false;
  }
  return shape;
}

void LaunchPasses(const DeviceTraits& traits, const Plan& plan, bool realign, bool fold,
                  const LaunchShape& shape, const PassArgs& args, CudaStreamView stream,
                  const LeafKernel* variant) {
  const Components set = ServingSet(plan.components);
  const void* const block_pass = shape.block_a_leaf && set == kSumSet
                                     ? BlockLeafPassKernel(plan.type, plan.nan_policy)
                                     : nullptr;
  if (block_pass != nullptr) {
    LaunchKernel(block_pass, args.unit_count, kBlockLeafThreads, 0, false, args, stream);
  } else {
    const LeafKernel leaf_pass =
        variant != nullptr ? *variant : LeafPassKernel(plan.type, set, plan.nan_policy, realign);
    uint32_t blocks = (args.unit_count + shape.block_warps - 1) / shape.block_warps;
    if (shape.blocks_per_multiprocessor != 0) {
      blocks = std::min(blocks, shape.blocks_per_multiprocessor * traits.multiprocessors);
    }
    const uint32_t shared_bytes = shape.block_warps * leaf_pass.WarpBytes(args.run_level);
    LaunchKernel(leaf_pass.address, blocks, shape.block_warps * kWarpThreads, shared_bytes, false,
                 args, stream);
  }
  if (args.finish != Finish::kFoldPass || !fold) return;
  const uint32_t fold_blocks =
      args.tasks != nullptr ? args.task_count : (args.unit_count + kFoldNodes - 1) / kFoldNodes;
  LaunchKernel(FoldPassKernel(IsFloating(plan.type), set), fold_blocks, kFoldThreads, 0,
               traits.dependent_launch, args, stream);
}

}  // namespace reduction::kernels::cuda
