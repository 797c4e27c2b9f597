#include "kernels/cuda/launch.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cuda/device_attributes.h"
#include "kernels/cuda/pass_kernels.h"
#include "kernels/cuda/state_words.h"

namespace reduction::kernels::cuda {

void LaunchKernel(const void* kernel, uint32_t blocks, uint32_t threads, bool dependent,
                  std::span<void*> parameters, CudaStreamView stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream.get();
  cudaLaunchAttribute attribute = {};
  config.attrs = &attribute;
  if (dependent) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.numAttrs = 1;
  }
  Check(cudaLaunchKernelExC(&config, kernel, parameters.data()));
}

DeviceTraits QueryTraits(int ordinal) {
  UseDevice(ordinal);
  DeviceTraits traits;
  traits.ordinal = ordinal;
  traits.multiprocessors = Attribute(cudaDevAttrMultiProcessorCount, ordinal);
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
        Check(cudaFuncGetAttributes(&attributes, LeafPassKernel(type, set, policy)));
      }
    }
  }
  for (const ElementType type : kAllElementTypes) {
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      Check(cudaFuncGetAttributes(&attributes, RunPassKernel(type, policy)));
      for (const Components set : kAtomicSets) {
        Check(cudaFuncGetAttributes(&attributes, AtomicPassKernel(type, set, policy)));
      }
    }
  }
}

Workspace::Workspace(uint32_t units, uint32_t tasks)
    : nodes_(units * kMaxNodeWords * sizeof(uint64_t)),
      chunk_nodes_(kMaxFoldBlocks * kMaxNodeWords * sizeof(uint64_t)),
      cells_(tasks * sizeof(AtomicCell)),
      ticket_(sizeof(uint32_t)) {
  const std::vector<AtomicCell> cells(tasks);
  CopyToDevice(cells_.data(), cells.data(), tasks * sizeof(AtomicCell));
  const uint32_t ticket = 0;
  CopyToDevice(ticket_.data(), &ticket, sizeof(ticket));
}

void Workspace::Bind(PassArgs* args) const {
  args->nodes = reinterpret_cast<uint64_t*>(nodes_.data());
  args->chunk_nodes = reinterpret_cast<uint64_t*>(chunk_nodes_.data());
  args->cells = reinterpret_cast<AtomicCell*>(cells_.data());
  args->ticket = reinterpret_cast<uint32_t*>(ticket_.data());
}

LaunchShape ClampShape(LaunchShape shape, const Plan& plan, uint64_t leaves) {
  if (plan.algorithm == Algorithm::kAtomic && AtomicServes(plan.components)) {
    shape.unit_leaves = std::clamp(shape.unit_leaves, 1u, kMaxUnitLeaves);
    return shape;
  }
  const bool runs = shape.unit_leaves > 1 && ServingSet(plan.components) == kSumSet;
  shape.unit_leaves = runs ? std::bit_floor(std::min(shape.unit_leaves, kMaxRunLeaves)) : 1;
  shape.chunk_level = std::min(shape.chunk_level, kMaxChunkLevel);
  while (shape.chunk_level < kMaxChunkLevel && leaves >> shape.chunk_level >= kMaxChunks) {
    ++shape.chunk_level;
  }
  const uint64_t most = std::min(leaves, uint64_t{1} << shape.chunk_level);
  if (runs || most > kTicketLeaves) shape.ticket = false;
  return shape;
}

void LaunchAtomicPass(const Plan& plan, const PassArgs& args, CudaStreamView stream) {
  void* parameters[] = {const_cast<PassArgs*>(&args)};
  LaunchKernel(AtomicPassKernel(plan.type, plan.components, plan.nan_policy), args.unit_count,
               LeafPassThreads(plan.type), false, parameters, stream);
}

void LaunchPasses(const DeviceTraits& traits, const Plan& plan, uint32_t most_nodes,
                  const PassArgs& args, CudaStreamView stream) {
  const Components set = ServingSet(plan.components);
  void* parameters[] = {const_cast<PassArgs*>(&args)};
  LaunchKernel(args.unit_leaves > 1 ? RunPassKernel(plan.type, plan.nan_policy)
                                    : LeafPassKernel(plan.type, set, plan.nan_policy),
               args.node_count, LeafPassThreads(plan.type), false, parameters, stream);
  if (args.finish != Finish::kFoldPass || most_nodes == 1) return;
  const uint32_t most_threads = FoldPassThreads(set);
  const uint32_t block_nodes = most_threads * kFoldNodesPerThread;
  const uint32_t fold_blocks =
      args.tasks != nullptr ? args.task_count : (args.node_count + block_nodes - 1) / block_nodes;
  // A small block finds room on a multiprocessor before the first pass has ended.
  constexpr uint32_t kWarpNodes = kWarpThreads * kFoldNodesPerThread;
  const uint32_t threads =
      std::min(most_threads, (most_nodes + kWarpNodes - 1) / kWarpNodes * kWarpThreads);
  LaunchKernel(FoldPassKernel(IsFloating(plan.type), set), fold_blocks, threads,
               traits.dependent_launch, parameters, stream);
}

}  // namespace reduction::kernels::cuda
