#include "kernels/cuda/device_reduce.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/pass_kernels.h"
#include "kernels/float_environment.h"
#include "kernels/ordered_fold.h"

namespace reduction::kernels::cuda {
namespace {

uint32_t UnitCount(uint64_t leaves, uint32_t unit_leaves) {
  return static_cast<uint32_t>(std::max<uint64_t>((leaves + unit_leaves - 1) / unit_leaves, 1));
}

// The chunks are runs of 2^level leaves, but for the last. Not inlined: see
// DefaultFloatEnvironment.
[[gnu::noinline]] State FoldChunks(bool floating, uint32_t level,
                                   const std::vector<State>& chunks) {
  OrderedFold fold(floating);
  for (uint64_t chunk = 0; chunk < chunks.size(); ++chunk) {
    fold.Push({chunk << level, level}, chunks[chunk]);
  }
  return fold.Total();
}

}  // namespace

DeviceReducer::DeviceReducer(int ordinal)
    : traits_(QueryTraits(ordinal)),
      workspace_(1u << kMaxChunkLevel, 1),
      results_(kMaxChunks * sizeof(State)) {
  const std::vector<State> nothing(kMaxChunks);
  CopyToDevice(results_.data(), nothing.data(), results_.size());
}

void DeviceReducer::Enqueue(const Plan& plan, const std::byte* x, const std::byte* y,
                            uint64_t count, uint64_t first_index, CudaStreamView stream,
                            const LaunchShape* shape) {
  const bool atomic = plan.algorithm == Algorithm::kAtomic && AtomicServes(plan.components);
  algorithm_ = atomic ? Algorithm::kAtomic : Algorithm::kTwoPass;
  floating_ = IsFloating(plan.type);
  const size_t element_size = ElementSize(plan.type);
  const uint64_t leaves = LeafCount(count * element_size);
  LaunchShape tuned =
      atomic ? ShapeFor(kAtomicShapes, leaves) : TwoPassShape(element_size, floating_, leaves);
  if (shape != nullptr) tuned = *shape;
  tuned = ClampShape(tuned, plan, leaves);

  PassArgs args;
  workspace_.Bind(&args);
  args.results = reinterpret_cast<State*>(results_.data());
  args.finish = tuned.ticket ? Finish::kTicket : Finish::kFoldPass;
  args.single.x = x;
  args.single.y = y;
  args.single.count = count;
  args.single.first_index = first_index;
  chunk_level_ = tuned.chunk_level;
  chunks_ = 1;
  if (atomic) return EnqueueAtomic(plan, args, tuned.unit_leaves, stream);

  const uint64_t chunk_elements = (kLeafBytes / element_size) << chunk_level_;
  chunks_ = std::max<uint64_t>((count + chunk_elements - 1) / chunk_elements, 1);
  for (uint64_t chunk = 0; chunk < chunks_; ++chunk) {
    const uint64_t first = chunk * chunk_elements;
    args.single.x = x + first * element_size;
    if (y != nullptr) args.single.y = y + first * element_size;
    args.single.count = std::min(count - first, chunk_elements);
    args.single.first_index = first_index + first;
    const uint64_t chunk_leaves = LeafCount(args.single.count * element_size);
    args.unit_leaves = chunk_leaves > tuned.unit_leaves ? tuned.unit_leaves : 1;
    args.node_count = UnitCount(chunk_leaves, args.unit_leaves);
    args.single.units = args.node_count;
    LaunchPasses(traits_, plan, args.node_count, args, stream);
    ++args.results;
  }
}

void DeviceReducer::EnqueueAtomic(const Plan& plan, PassArgs args, uint32_t unit_leaves,
                                  CudaStreamView stream) {
  const uint64_t leaves = LeafCount(args.single.count * ElementSize(plan.type));
  args.unit_leaves = unit_leaves;
  args.unit_count = UnitCount(leaves, unit_leaves);
  args.single.units = args.unit_count;
  LaunchAtomicPass(plan, args, stream);
}

State DeviceReducer::Result() const {
  std::vector<State> states(chunks_);
  Check(
      cudaMemcpy(states.data(), results_.data(), chunks_ * sizeof(State), cudaMemcpyDeviceToHost));
  const DefaultFloatEnvironment environment;
  return FoldChunks(floating_, chunk_level_, states);
}

}  // namespace reduction::kernels::cuda
