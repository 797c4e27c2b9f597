// Reduces a run of two arrays to their dot product. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_
#undef REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_
#else
#define REDUCTION_KERNELS_CPU_DOT_RUN_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/cpu/integer_sweeps-inl.h"
#include "kernels/cpu/patched_leaf.h"
#include "kernels/cpu/run.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

template <class T>
class DotRun {
 public:
  explicit DotRun(const Run& run) : run_(run) {}

  State Reduce() { return run_.count == 0 ? State{} : Fold(0, LeafCount(run_.count * sizeof(T))); }

 private:
  static constexpr uint64_t kElements = kLeafBytes / sizeof(T);

  // The node of `leaves` leaves: what the binary counter makes of them, by recursion.
  State Fold(uint64_t first, uint64_t leaves) {
    if (leaves == 1) return ReduceLeaf(first);
    const uint64_t left = std::bit_floor(leaves - 1);
    const State a = Fold(first, left);
    const State b = Fold(first + left, leaves - left);
    return Combine<kIsFloating<T>, kDotComponent>(a, b);
  }

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

  const Run& run_;
  PatchedLeaf<T> patched_;
};

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
