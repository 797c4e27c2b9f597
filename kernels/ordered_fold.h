// Combines the nodes of consecutive aligned runs of leaves in the fixed order, in O(log n) memory.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fixed_order.h"

namespace reduction::kernels {

// Combine() for a plan known only at run time; components outside the plan are carried along.
inline State CombineAny(bool floating, const State& a, const State& b) {
  return floating ? Combine<true, kAllOneArrayComponents>(a, b)
                  : Combine<false, kAllOneArrayComponents>(a, b);
}

// A node of the tree over leaves.
struct Node {
  LeafRun run;
  State state;
};

// Not thread-safe.
class OrderedFold {
 public:
  // `floating`: whether the elements are. Nodes start at leaf `first_leaf` of the array.
  explicit OrderedFold(bool floating, uint64_t first_leaf = 0)
      : floating_(floating), next_leaf_(first_leaf) {}

  // The leaf at which the next node must start.
  uint64_t next_leaf() const { return next_leaf_; }

  // Adds the node of the next run. Only the last run of an array may be ragged: hold fewer
  // elements than its leaves could.
  void Push(const LeafRun& run, State state) {
    unsigned level = run.level;
    next_leaf_ = run.first_leaf + (uint64_t{1} << level);
    uint64_t first_leaf = run.first_leaf;
    while (!nodes_.empty() && nodes_.back().run.level == level &&
           (nodes_.back().run.first_leaf >> level) % 2 == 0) {
      state = CombineAny(floating_, nodes_.back().state, state);
      first_leaf = nodes_.back().run.first_leaf;
      nodes_.pop_back();
      ++level;
    }
    nodes_.push_back({{first_leaf, level}, state});
  }

  // The nodes that cannot combine yet, from left to right: the canonical decomposition of the
  // leaves seen so far, at most 2*log2(leaves) + 2 nodes.
  const std::vector<Node>& nodes() const { return nodes_; }

  // The state of everything pushed.
  State Total() const {
    if (nodes_.empty()) return State{};
    State total = nodes_.back().state;
    for (size_t i = nodes_.size() - 1; i-- > 0;) {
      total = CombineAny(floating_, nodes_[i].state, total);
    }
    return total;
  }

 private:
  bool floating_;
  uint64_t next_leaf_;
  std::vector<Node> nodes_;
};

}  // namespace reduction::kernels
