#include "kernels/cuda/device_reduce.h"

#include <algorithm>
#include <utility>

namespace reduction::kernels::cuda {
namespace {

size_t Skew(const std::byte* p) { return reinterpret_cast<uintptr_t>(p) % 16; }

}  // namespace

DeviceReducer::DeviceReducer(int ordinal)
    : traits_(QueryTraits(ordinal)), workspace_(kMaxUnits, 1), result_(sizeof(State)) {
  const State nothing;
  Check(cudaMemcpy(result_.data(), &nothing, sizeof(State), cudaMemcpyHostToDevice));
}

void DeviceReducer::Enqueue(const Plan& plan, const std::byte* x, const std::byte* y,
                            uint64_t count, uint64_t first_index, CudaStreamView stream,
                            const LaunchShape* shape, const LeafKernel* variant) {
  const bool atomic = plan.algorithm == Algorithm::kAtomic && AtomicServes(plan.components);
  algorithm_ = atomic ? Algorithm::kAtomic : Algorithm::kTwoPass;
  const uint64_t leaves = LeafCount(count * ElementSize(plan.type));
  LaunchShape tuned =
      atomic ? ShapeFor(kAtomicShapes, leaves)
             : TwoPassShape(ServingSet(plan.components), ElementSize(plan.type), leaves);
  if (shape != nullptr) tuned = *shape;
  tuned = ClampShape(tuned, leaves, workspace_.max_units());

  const bool dot = plan.components == kDotComponent;
  // Products commute: the array that lies nearer to its 16-byte boundary comes first.
  if (dot && Skew(x) > Skew(y)) std::swap(x, y);
  PassArgs args;
  args.single.x = x;
  args.single.y = y;
  args.single.count = count;
  args.single.first_index = first_index;
  args.run_level = tuned.run_level;
  args.unit_count = static_cast<uint32_t>(UnitCount(leaves, tuned.run_level));
  args.single.units = args.unit_count;
  args.finish = atomic ? Finish::kAtomic : tuned.ticket ? Finish::kTicket : Finish::kFoldPass;
  args.results = reinterpret_cast<State*>(result_.data());
  workspace_.Bind(&args);
  LaunchPasses(traits_, plan, dot && Skew(x) != Skew(y), args.unit_count > 1, tuned, args, stream,
               variant);
}

State DeviceReducer::Result() const {
  State state;
  Check(cudaMemcpy(&state, result_.data(), sizeof(State), cudaMemcpyDeviceToHost));
  return state;
}

}  // namespace reduction::kernels::cuda
