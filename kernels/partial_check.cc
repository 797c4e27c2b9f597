#include "kernels/partial_check.h"

#include <limits>
#include <string_view>

namespace reduction::kernels {
namespace {

std::string Number(uint64_t value) { return std::to_string(value); }

bool Has(const Plan& plan, Components component) { return (plan.components & component) != 0; }

uint64_t LeafElements(ElementType type) { return kLeafBytes / ElementSize(type); }

// Whether an element of the type, other than a NaN, has this key.
bool IsElementKey(ElementType type, int64_t key) {
  return DispatchElementType(type, [key](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      return key >= OrderKey(std::numeric_limits<T>::min()) &&
             key <= OrderKey(std::numeric_limits<T>::max());
    } else {
      const double infinity = std::numeric_limits<double>::infinity();
      if constexpr (std::is_same_v<T, double>) {
        return key >= OrderKey(-infinity) && key <= OrderKey(infinity);
      } else {
        const float limit = static_cast<float>(infinity);
        return key >= OrderKey(-limit) && key <= OrderKey(limit);
      }
    }
  });
}

bool ExtremaAreSound(const Plan& plan, const State& state) {
  if (state.count == 0) return state.min_key == kHighestKey && state.max_key == kLowestKey;
  if (IsFloating(plan.type) && plan.nan_policy == NanPolicy::kPropagate &&
      state.min_key == kLowestKey && state.max_key == kHighestKey) {
    return true;  // a NaN
  }
  return state.min_key <= state.max_key && IsElementKey(plan.type, state.min_key) &&
         IsElementKey(plan.type, state.max_key);
}

// Empty when `state` can be the state of `count` elements from `first` on.
std::string ComplaintAboutNode(const Plan& plan, const State& state, uint64_t first,
                               uint64_t count) {
  const auto complain = [first](std::string_view what) {
    return "the partial's node at element " + Number(first) + " " + std::string(what);
  };
  const bool may_skip = IsFloating(plan.type) && plan.nan_policy == NanPolicy::kIgnore;
  if (state.count > count || (!may_skip && state.count != count)) {
    return complain("counts " + Number(state.count) + " of " + Number(count) + " elements");
  }
  if (Has(plan, kNanCountComponent)) {
    const uint64_t most = !IsFloating(plan.type) ? 0 : may_skip ? count - state.count : count;
    if (state.nan_count > most || (may_skip && state.nan_count != most)) {
      return complain("counts " + Number(state.nan_count) + " NaNs where at most " + Number(most) +
                      " can be");
    }
  }
  if (Has(plan, kNonzeroComponent) && state.nonzero_count > state.count) {
    return complain("counts more elements that are not zero than elements");
  }
  if (Has(plan, kExtremaComponent) && !ExtremaAreSound(plan, state)) {
    return complain("has extrema that no elements of its type have");
  }
  if (Has(plan, kArgComponent)) {
    for (const uint64_t index : {state.argmin, state.argmax}) {
      const bool sound =
          state.count == 0 ? index == kNoIndex : index >= first && index - first < count;
      if (!sound) return complain("has the position of an extremum outside its elements");
    }
  }
  return {};
}

}  // namespace

std::string ComplaintAboutPlan(const Plan& plan) {
  if (plan.components == kDotComponent) return {};
  if (plan.components == 0 || (plan.components & ~kAllOneArrayComponents) != 0) {
    return "the partial's components " + Number(plan.components) +
           " are no set of known ones: dot alone, or any of the others";
  }
  if (Has(plan, kArgComponent) && !Has(plan, kExtremaComponent)) {
    return "the partial has positions of extrema without the extrema";
  }
  return {};
}

std::string ComplaintAboutRange(ElementType type, uint64_t first, uint64_t count) {
  if (first % LeafElements(type) != 0) {
    return "the partial's first element " + Number(first) + " is no multiple of a leaf's " +
           Number(LeafElements(type)) + " elements";
  }
  const uint64_t limit = std::numeric_limits<uint64_t>::max() / ElementSize(type);
  if (first > limit || count > limit - first) {
    return "the partial's elements " + Number(first) + " and the next " + Number(count) +
           " exceed the limit of 2^64 bytes an array";
  }
  return {};
}

std::string ComplaintAboutNodes(const Partial& partial) {
  const uint64_t leaf_elements = LeafElements(partial.plan.type);
  const uint64_t end = partial.first_element + partial.element_count;
  const uint64_t end_leaf = end / leaf_elements + (end % leaf_elements != 0);
  uint64_t leaf = partial.first_element / leaf_elements;
  for (const Node& node : partial.nodes) {
    if (leaf >= end_leaf) return "the partial has more nodes than its leaves make";
    const LeafRun run = NextRun(leaf, end_leaf);
    if (node.run.first_leaf != run.first_leaf || node.run.level != run.level) {
      return "the partial's nodes are not the canonical ones of its leaves";
    }
    leaf += uint64_t{1} << run.level;
    const uint64_t first = run.first_leaf * leaf_elements;
    const uint64_t count = (leaf < end_leaf ? leaf * leaf_elements : end) - first;
    std::string complaint = ComplaintAboutNode(partial.plan, node.state, first, count);
    if (!complaint.empty()) return complaint;
  }
  if (leaf < end_leaf) return "the partial has fewer nodes than its leaves make";
  return {};
}

std::string ComplaintAbout(const Partial& partial) {
  std::string complaint = ComplaintAboutPlan(partial.plan);
  if (complaint.empty()) {
    complaint =
        ComplaintAboutRange(partial.plan.type, partial.first_element, partial.element_count);
  }
  return complaint.empty() ? ComplaintAboutNodes(partial) : complaint;
}

}  // namespace reduction::kernels
