// Reduces a run of two arrays to their dot product. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_
#undef REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_
#else
#define REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "kernels/cpu/integer_sweeps-inl.h"
#include "kernels/cpu/leaf_fold-inl.h"
#include "kernels/cpu/patched_leaf.h"
#include "kernels/cpu/run.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

template <class T>
class DotRun {
 public:
  explicit DotRun(const Run& run) : run_(run) {}

  State Reduce() {
    if (run_.count == 0) return State{};
    return FoldLeaves<kIsFloating<T>, kDotComponent>(this, 0, LeafCount(run_.count * sizeof(T)));
  }

  // For FoldLeaves().
  State ReduceLeaf(uint64_t leaf) {
    const std::byte* x = run_.x + leaf * kLeafBytes;
    const std::byte* y = run_.y + leaf * kLeafBytes;
    const size_t count = static_cast<size_t>(std::min(kElements, run_.count - leaf * kElements));
    const size_t rows = (count + kLanes<T> - 1) / kLanes<T>;
    // Where the next leaf begins; after the last full one, where this one does.
    const size_t ahead = (leaf + 2) * kElements <= run_.count ? kLeafBytes : 0;
    const std::byte* padded_x = x;
    const std::byte* padded_y = y;
    State state;
    state.count = count;
    if (count != rows * kLanes<T>) {
      patched_.PadPairs(x, y, count, rows, NanPolicy::kPropagate, &padded_x, &padded_y);
    }
    if constexpr (kIsFloating<T>) {
      state.sum = SweepDot<T>(padded_x, padded_y, rows, x + ahead, y + ahead);
      if (run_.nan_policy == NanPolicy::kIgnore && std::isnan(state.sum)) {
        state.count =
            patched_.PadPairs(x, y, count, rows, NanPolicy::kIgnore, &padded_x, &padded_y);
        state.sum = SweepDot<T>(padded_x, padded_y, rows, x, y);
      }
    } else if constexpr (sizeof(T) <= 2) {
      state.integer_sum = Int128::FromInt64(
          DotNarrow<T>(padded_x, padded_y, rows * kRowBytes, x + ahead, y + ahead));
    } else {
      state.integer_sum = DotWide<T>(padded_x, padded_y, rows * kRowBytes, x + ahead, y + ahead);
    }
    return state;
  }

 private:
  static constexpr uint64_t kElements = kLeafBytes / sizeof(T);

  const Run& run_;
  PatchedLeaf<T> patched_;
};

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
