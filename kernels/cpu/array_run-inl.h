// Reduces a run of one array: leaf by leaf, then over the tree of leaves. Included once a target.
#if defined(REDUCTION_KERNELS_CPU_ARRAY_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REDUCTION_KERNELS_CPU_ARRAY_RUN_INL_H_
#undef REDUCTION_KERNELS_CPU_ARRAY_RUN_INL_H_
#else
#define REDUCTION_KERNELS_CPU_ARRAY_RUN_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/cpu/leaf_fold-inl.h"
#include "kernels/cpu/leaf_totals-inl.h"
#include "kernels/cpu/run.h"

HWY_BEFORE_NAMESPACE();
namespace reduction::kernels::HWY_NAMESPACE {

template <class T>
class ArrayRun {
 public:
  explicit ArrayRun(const Run& run) : run_(run) {}

  State Reduce() {
    if (run_.count == 0) return State{};
    const uint64_t leaves = LeafCount(run_.count * sizeof(T));
    constexpr Components kFew = kSumComponent;
    constexpr Components kMost =
        kFew | kSquaresComponent | kL1Component | kNanCountComponent | kNonzeroComponent;
    constexpr Components kAll = kMost | kMomentsComponent;
    const Components rest = run_.components & ~(kExtremaComponent | kArgComponent);
    constexpr bool kFloating = kIsFloating<T>;
    State total = (rest & ~kFew) == 0    ? FoldLeaves<kFloating, kFew>(this, 0, leaves)
                  : (rest & ~kMost) == 0 ? FoldLeaves<kFloating, kMost>(this, 0, leaves)
                                         : FoldLeaves<kFloating, kAll>(this, 0, leaves);
    if ((run_.components & kExtremaComponent) != 0) SetExtrema(&total);
    return total;
  }

  // For FoldLeaves().
  State ReduceLeaf(uint64_t leaf) {
    const std::byte* x = LeafBegin(leaf);
    const size_t count = LeafSize(leaf);
    const size_t rows = (count + kLanes<T> - 1) / kLanes<T>;
    const bool whole = count == rows * kLanes<T>;
    T first = LoadElement<T>(x);
    LeafView view = whole ? LeafView{x, x} : patched_.Pad(x, count, rows);
    LeafTotals<T> totals = Measure<T>(view, rows, first, count, run_.components, Ahead(leaf));
    size_t kept = count;
    bool nan = false;
    if constexpr (kIsFloating<T>) {
      const size_t nans =
          WatchesNans() && totals.MayHoldNan(run_.components)
              ? CountWhere<T>(view.zeros, rows * kRowBytes, IsNanBits<T>(), view.zeros)
              : 0;
      nan = nans != 0;
      if (nan && run_.nan_policy == NanPolicy::kIgnore) {
        nan = false;
        kept = count - nans;
        if (kept != 0) {
          view = patched_.PadWithoutNans(x, count, rows, &first);
          totals = Measure<T>(view, rows, first, kept, run_.components, x);
        } else {
          totals = LeafTotals<T>();
        }
      }
      totals.state.nan_count = nans;
    }
    totals.state.count = kept;
    if ((run_.components & kExtremaComponent) != 0) TakeExtrema(leaf, totals.extrema, kept, nan);
    return totals.state;
  }

 private:
  static constexpr uint64_t kElements = kLeafBytes / sizeof(T);

  const std::byte* LeafBegin(uint64_t leaf) const { return run_.x + leaf * kLeafBytes; }
  size_t LeafSize(uint64_t leaf) const {
    return static_cast<size_t>(std::min(kElements, run_.count - leaf * kElements));
  }

  // Where the next leaf begins; after the last full one, where this one does.
  const std::byte* Ahead(uint64_t leaf) const {
    return LeafBegin((leaf + 2) * kElements <= run_.count ? leaf + 1 : leaf);
  }

  bool WatchesNans() const {
    return run_.nan_policy == NanPolicy::kIgnore ||
           (run_.components & (kExtremaComponent | kNanCountComponent)) != 0;
  }

  void TakeExtrema(uint64_t leaf, const Extrema<T>& extrema, size_t kept, bool nan) {
    if (nan) {
      if (!nan_leaf_) nan_leaf_ = leaf;
      return;
    }
    if (kept == 0) return;
    if (!min_leaf_ || OrderKey(extrema.min) < OrderKey(extrema_.min)) {
      min_leaf_ = leaf;
      extrema_.min = extrema.min;
    }
    if (!max_leaf_ || OrderKey(extrema.max) > OrderKey(extrema_.max)) {
      max_leaf_ = leaf;
      extrema_.max = extrema.max;
    }
  }

  // The index in the array of the first element of `leaf` that holds the predicate.
  template <class Predicate>
  uint64_t IndexInLeaf(uint64_t leaf, Predicate holds) const {
    return run_.first_index + leaf * kElements +
           FindWhere<T>(LeafBegin(leaf), LeafSize(leaf), holds);
  }

  void SetExtrema(State* total) const {
    const bool arg = (run_.components & kArgComponent) != 0;
    if (nan_leaf_) {
      total->min_key = kLowestKey;
      total->max_key = kHighestKey;
      if constexpr (kIsFloating<T>) {
        if (arg) total->argmin = total->argmax = IndexInLeaf(*nan_leaf_, IsNanBits<T>());
      }
    } else if (min_leaf_) {
      total->min_key = OrderKey(extrema_.min);
      total->max_key = OrderKey(extrema_.max);
      if (arg) {
        using Holds = HasBits<T>;
        total->argmin = IndexInLeaf(*min_leaf_, Holds{BitCast<BitsOf<T>>(extrema_.min)});
        total->argmax = IndexInLeaf(*max_leaf_, Holds{BitCast<BitsOf<T>>(extrema_.max)});
      }
    }
  }

  const Run& run_;
  // Extrema of the leaves so far and the first leaf that holds each; the first with a NaN.
  Extrema<T> extrema_;
  std::optional<uint64_t> min_leaf_;
  std::optional<uint64_t> max_leaf_;
  std::optional<uint64_t> nan_leaf_;
  PatchedLeaf<T> patched_;
};

}  // namespace reduction::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
