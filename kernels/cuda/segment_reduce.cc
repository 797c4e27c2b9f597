#include "kernels/cuda/segment_reduce.h"

#include <algorithm>

#include "kernels/cuda/pass_kernels.h"
#include "kernels/cuda/segment_kernels.h"
#include "kernels/cuda/state_words.h"

namespace reduction::kernels::cuda {

SegmentReducer::SegmentReducer(int ordinal, uint64_t max_segments)
    : traits_(QueryTraits(ordinal)),
      first_segment_(sizeof(uint32_t) << kMaxChunkLevel),
      nodes_((2 * kMaxNodeWords * sizeof(uint64_t)) << kMaxChunkLevel),
      list_sizes_(2 * sizeof(uint32_t)),
      groups_((2 * sizeof(uint64_t)) << kMaxChunkLevel),
      parted_((2 * sizeof(uint64_t)) << kMaxChunkLevel),
      results_(max_segments * kMaxNodeWords * sizeof(uint64_t)) {}

void SegmentReducer::Enqueue(const Plan& plan, const std::byte* x, uint64_t count,
                             const SegmentLayout& layout, CudaStreamView stream) {
  const size_t element_size = ElementSize(plan.type);
  set_ = SegmentSet(plan.components);
  floating_ = IsFloating(plan.type);
  segments_ = layout.segments;
  if (segments_ == 0) return;
  SegmentArgs args;
  args.x = x;
  args.count = count;
  args.layout = layout;
  args.windows = static_cast<uint32_t>(std::max<uint64_t>(LeafCount(count * element_size), 1));
  args.first_segment = reinterpret_cast<uint32_t*>(first_segment_.data());
  args.nodes = reinterpret_cast<uint64_t*>(nodes_.data());
  args.results = reinterpret_cast<uint64_t*>(results_.data());
  args.list_sizes = reinterpret_cast<uint32_t*>(list_sizes_.data());
  args.groups = reinterpret_cast<uint64_t*>(groups_.data());
  args.parted = reinterpret_cast<uint64_t*>(parted_.data());
  constexpr uint32_t kFindThreads = 256;
  uint32_t leaf_lanes = static_cast<uint32_t>(kLeafBytes / element_size);
  void* parameters[] = {&args, &leaf_lanes};

  // Equal segments say by themselves where windows begin and whether there is something to fold.
  const bool equal = layout.offsets == nullptr;
  const bool fold = !equal || layout.length > leaf_lanes;
  const bool fold_twice = !equal || layout.length > uint64_t{leaf_lanes} * kFoldNodes;
  if (fold) {
    const uint32_t threads = equal ? 1 : args.windows;
    LaunchKernel(FindFirstSegmentsKernel(), (threads + kFindThreads - 1) / kFindThreads,
                 kFindThreads, false, parameters, stream);
  }
  const bool dependent = traits_.dependent_launch;
  LaunchKernel(SegmentPassKernel(plan.type, set_, plan.nan_policy, equal ? layout.length : 0),
               args.windows, LeafPassThreads(plan.type), fold && dependent, parameters, stream);
  const SegmentFolds folds = SegmentFoldKernels(floating_, set_);
  const uint32_t blocks = std::min(args.windows, 2 * traits_.multiprocessors);
  if (fold) LaunchKernel(folds.groups, blocks, kFoldThreads, dependent, parameters, stream);
  if (fold_twice) LaunchKernel(folds.segments, blocks, kFoldThreads, dependent, parameters, stream);
}

std::vector<State> SegmentReducer::Results() const {
  const uint32_t words = StateWords(floating_, set_);
  std::vector<uint64_t> columns(words * segments_);
  Check(cudaMemcpy(columns.data(), results_.data(), columns.size() * sizeof(uint64_t),
                   cudaMemcpyDeviceToHost));
  std::vector<State> states(segments_);
  for (uint64_t i = 0; i < segments_; ++i) {
    states[i] = StateOfWords(floating_, set_, columns.data() + i, segments_);
  }
  return states;
}

}  // namespace reduction::kernels::cuda
