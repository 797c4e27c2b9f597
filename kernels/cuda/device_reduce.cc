#include "kernels/cuda/device_reduce.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/pass_kernels.h"
#include "kernels/ordered_fold.h"

namespace reduction::kernels::cuda {

DeviceReducer::DeviceReducer(int ordinal)
    : traits_(QueryTraits(ordinal)),
      workspace_(1u << kMaxChunkLevel, 1),
      results_(kMaxChunks * sizeof(State)) {
  const std::vector<State> nothing(kMaxChunks);
  Check(cudaMemcpy(results_.data(), nothing.data(), results_.size(), cudaMemcpyHostToDevice));
}

void DeviceReducer::Enqueue(const Plan& plan, const std::byte* x, const std::byte* y,
                            uint64_t count, uint64_t first_index, CudaStreamView stream,
                            const LaunchShape* shape) {
  const bool atomic = plan.algorithm == Algorithm::kAtomic && AtomicServes(plan.components);
  algorithm_ = atomic ? Algorithm::kAtomic : Algorithm::kTwoPass;
  floating_ = IsFloating(plan.type);
  const size_t element_size = ElementSize(plan.type);
  const uint64_t leaves = LeafCount(count * element_size);
  LaunchShape tuned = atomic ? ShapeFor(kAtomicShapes, leaves) : ShapeFor(kTwoPassShapes, leaves);
  if (shape != nullptr) tuned = *shape;
  tuned = ClampShape(tuned, leaves);

  PassArgs args;
  workspace_.Bind(&args);
  args.results = reinterpret_cast<State*>(results_.data());
  args.finish = tuned.ticket ? Finish::kTicket : Finish::kFoldPass;
  args.single.x = x;
  args.single.y = y;
  args.single.count = count;
  args.single.first_index = first_index;
  const bool runs = LeafPassRuns(ServingSet(plan.components)) && !tuned.ticket;
  args.unit_leaves = runs ? tuned.unit_leaves : 1;
  chunk_level_ = tuned.chunk_level;
  chunks_ = 1;
  if (atomic) return EnqueueAtomic(plan, args, tuned.unit_leaves, stream);

  const uint64_t chunk_elements = (kLeafBytes / element_size) << chunk_level_;
  chunks_ = std::max<uint64_t>((count + chunk_elements - 1) / chunk_elements, 1);
  for (uint64_t chunk = 0; chunk < chunks_; ++chunk) {
    const uint64_t first = chunk * chunk_elements;
    args.single.x = x + first * element_size;
    args.single.y = y + first * element_size;
    args.single.count = std::min(count - first, chunk_elements);
    args.single.first_index = first_index + first;
    args.leaf_count =
        static_cast<uint32_t>(std::max<uint64_t>(LeafCount(args.single.count * element_size), 1));
    args.single.units = args.leaf_count;
    LaunchPasses(traits_, plan, args.leaf_count > 1, args, stream);
    ++args.results;
  }
}

void DeviceReducer::EnqueueAtomic(const Plan& plan, PassArgs args, uint32_t unit_leaves,
                                  CudaStreamView stream) {
  const uint64_t leaves = LeafCount(args.single.count * ElementSize(plan.type));
  args.unit_leaves = unit_leaves;
  args.unit_count =
      static_cast<uint32_t>(std::max<uint64_t>((leaves + unit_leaves - 1) / unit_leaves, 1));
  args.single.units = args.unit_count;
  LaunchAtomicPass(plan, args, stream);
}

State DeviceReducer::Result() const {
  std::vector<State> states(chunks_);
  Check(
      cudaMemcpy(states.data(), results_.data(), chunks_ * sizeof(State), cudaMemcpyDeviceToHost));
  // Chunks are runs of equal length, but for the last.
  OrderedFold fold(floating_);
  for (uint64_t chunk = 0; chunk < chunks_; ++chunk) {
    fold.Push({chunk << chunk_level_, chunk_level_}, states[chunk]);
  }
  return fold.Total();
}

}  // namespace reduction::kernels::cuda
