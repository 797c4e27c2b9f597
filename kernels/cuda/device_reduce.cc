#include "kernels/cuda/device_reduce.h"

#include <algorithm>
#include <utility>

namespace reduction::kernels::cuda {
namespace {

size_t Skew(const std::byte* p) { return reinterpret_cast<uintptr_t>(p) % 16; }

}  // namespace

DeviceReducer::DeviceReducer(int ordinal)
    : traits_(QueryTraits(ordinal)), workspace_(kMaxUnits, 1), result_(1) {}

void DeviceReducer::Enqueue(const Plan& plan, const std::byte* x, const std::byte* y,
                            uint64_t count, uint64_t first_index, CudaStreamView stream,
                            const LaunchShape* shape) {
  const bool atomic = plan.algorithm == Algorithm::kAtomic && AtomicServes(plan.components);
  algorithm_ = atomic ? Algorithm::kAtomic : Algorithm::kTwoPass;
  const uint64_t leaves = LeafCount(count * ElementSize(plan.type));
  LaunchShape tuned = atomic ? ShapeFor(kAtomicShapes, leaves) : ShapeFor(kTwoPassShapes, leaves);
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
  const uint64_t run = uint64_t{1} << tuned.run_level;
  args.unit_count = static_cast<uint32_t>(std::max<uint64_t>(1, (leaves + run - 1) / run));
  args.single.units = args.unit_count;
  args.finish = atomic ? Finish::kAtomic : tuned.ticket ? Finish::kTicket : Finish::kFoldPass;
  args.results = result_.device_data();
  workspace_.Bind(&args);
  LaunchPasses(traits_, plan, dot && Skew(x) != Skew(y), args.unit_count > 1, tuned, args, stream);
}

}  // namespace reduction::kernels::cuda
