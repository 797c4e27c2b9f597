// A slow reference of the numeric contract, one element at a time, written from the text of
// kernels/fixed_order.h: rows, lanes, leaves, the tree of lanes and the binary counter of leaves.
// It shares the definitions of types, keys and states with the product, and none of its arithmetic.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/fixed_order.h"

namespace reduction::testing {

using kernels::Plan;
using kernels::State;

namespace reference {

template <class T>
T ElementAt(const std::byte* bytes, uint64_t index) {
  T element;
  std::memcpy(&element, bytes + index * sizeof(T), sizeof(T));
  return element;
}

inline State Merge(const State& a, const State& b) {
  State r;
  r.count = a.count + b.count;
  r.sum = a.sum + b.sum;
  const auto wide = [](const kernels::Int128& x) {
    return static_cast<unsigned __int128>(static_cast<uint64_t>(x.high)) << 64 | x.low;
  };
  const unsigned __int128 integers = wide(a.integer_sum) + wide(b.integer_sum);
  r.integer_sum.low = static_cast<uint64_t>(integers);
  r.integer_sum.high = static_cast<int64_t>(static_cast<uint64_t>(integers >> 64));
  r.sum_squares = a.sum_squares + b.sum_squares;
  r.l1 = a.l1 + b.l1;
  r.nan_count = a.nan_count + b.nan_count;
  r.nonzero_count = a.nonzero_count + b.nonzero_count;
  if (a.count == 0 || b.count == 0) {
    const State& moments = a.count == 0 ? b : a;
    r.shift = moments.shift;
    r.s1 = moments.s1;
    r.m2 = moments.m2;
  } else {
    const double na = static_cast<double>(a.count);
    const double nb = static_cast<double>(b.count);
    const double delta = (b.shift - a.shift) + (b.s1 / nb - a.s1 / na);
    r.shift = a.shift;
    r.s1 = (a.s1 + b.s1) + nb * (b.shift - a.shift);
    r.m2 = (a.m2 + b.m2) + delta * delta * (na * nb / (na + nb));
  }
  return r;
}

// Lanes 1, 2, 4, … apart.
inline double CombineLanes(std::vector<double> lanes) {
  for (size_t apart = 1; apart < lanes.size(); apart *= 2) {
    for (size_t lane = 0; lane < lanes.size(); lane += 2 * apart)
      lanes[lane] += lanes[lane + apart];
  }
  return lanes[0];
}

inline void SetIntegerSum(unsigned __int128 sum, State* state) {
  state->integer_sum.low = static_cast<uint64_t>(sum);
  state->integer_sum.high = static_cast<int64_t>(static_cast<uint64_t>(sum >> 64));
}

// `count` elements of one leaf: everything but extrema.
template <class T>
State Leaf(const std::byte* x, uint64_t count, bool ignore_nans) {
  const size_t width = kernels::kRowBytes / sizeof(T);
  std::vector<double> sum(width), squares(width), l1(width), s1(width), s2(width);
  unsigned __int128 integers = 0;
  State state;
  for (uint64_t i = 0; i < count; ++i) {
    const T element = ElementAt<T>(x, i);
    if (kernels::IsNan(element)) ++state.nan_count;
    if (kernels::IsNan(element) && ignore_nans) continue;
    const double value = kernels::ToReal(element);
    if (state.count++ == 0) state.shift = value;
    if (value != 0) ++state.nonzero_count;
    const size_t lane = i % width;
    if constexpr (std::is_integral_v<T>) {
      integers += static_cast<unsigned __int128>(static_cast<__int128>(element));
    } else {
      sum[lane] += value;
    }
    squares[lane] = std::fma(value, value, squares[lane]);
    l1[lane] += std::fabs(value);
    const double deviation = value - state.shift;
    s1[lane] += deviation;
    s2[lane] = std::fma(deviation, deviation, s2[lane]);
  }
  state.sum = CombineLanes(sum);
  SetIntegerSum(integers, &state);
  state.sum_squares = CombineLanes(squares);
  state.l1 = CombineLanes(l1);
  state.s1 = CombineLanes(s1);
  if (state.count != 0) {
    const double squared = state.s1 * state.s1;
    state.m2 = CombineLanes(s2) - squared / static_cast<double>(state.count);
  }
  return state;
}

template <class T>
State DotLeaf(const std::byte* x, const std::byte* y, uint64_t count, bool ignore_nans) {
  const size_t width = kernels::kRowBytes / sizeof(T);
  std::vector<double> sum(width);
  unsigned __int128 integers = 0;
  State state;
  for (uint64_t i = 0; i < count; ++i) {
    const T a = ElementAt<T>(x, i);
    const T b = ElementAt<T>(y, i);
    if (ignore_nans && (kernels::IsNan(a) || kernels::IsNan(b))) continue;
    ++state.count;
    if constexpr (std::is_integral_v<T>) {
      integers += static_cast<unsigned __int128>(static_cast<__int128>(a)) *
                  static_cast<unsigned __int128>(static_cast<__int128>(b));
    } else {
      sum[i % width] = std::fma(kernels::ToReal(a), kernels::ToReal(b), sum[i % width]);
    }
  }
  state.sum = CombineLanes(sum);
  SetIntegerSum(integers, &state);
  return state;
}

// The binary counter: a node waits for its right sibling; at the end the rest is folded from the
// right to the left.
class Counter {
 public:
  void Add(State state) {
    for (uint64_t bits = leaves_; bits % 2 == 1; bits /= 2) {
      state = Merge(nodes_.back(), state);
      nodes_.pop_back();
    }
    nodes_.push_back(state);
    ++leaves_;
  }
  State Total() const {
    if (nodes_.empty()) return State{};
    State total = nodes_.back();
    for (size_t i = nodes_.size() - 1; i > 0; --i) total = Merge(nodes_[i - 1], total);
    return total;
  }

 private:
  uint64_t leaves_ = 0;
  std::vector<State> nodes_;
};

// Extrema and their first positions, by a plain scan.
template <class T>
void SetExtrema(const std::byte* x, uint64_t count, bool ignore_nans, uint64_t first_index,
                State* state) {
  bool found = false;
  for (uint64_t i = 0; i < count; ++i) {
    const T element = ElementAt<T>(x, i);
    if (kernels::IsNan(element)) {
      if (ignore_nans) continue;
      state->min_key = kernels::kLowestKey;
      state->max_key = kernels::kHighestKey;
      state->argmin = state->argmax = first_index + i;
      return;
    }
    const int64_t key = kernels::OrderKey(element);
    if (!found || key < state->min_key) {
      state->min_key = key;
      state->argmin = first_index + i;
    }
    if (!found || key > state->max_key) {
      state->max_key = key;
      state->argmax = first_index + i;
    }
    found = true;
  }
}

}  // namespace reference

// What ReduceOnCpu promises, with every component of one array filled in (or, for a dot plan, sum
// and integer_sum of products). Call it with the default floating-point environment.
inline State ReferenceReduce(const Plan& plan, const std::byte* x, const std::byte* y,
                             uint64_t count, uint64_t first_index = 0) {
  return kernels::DispatchElementType(plan.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool ignore_nans = plan.nan_policy == kernels::NanPolicy::kIgnore;
    const bool dot = plan.components == kernels::kDotComponent;
    const uint64_t leaf = kernels::kLeafBytes / sizeof(T);
    reference::Counter counter;
    for (uint64_t i = 0; i < count; i += leaf) {
      const uint64_t length = count - i < leaf ? count - i : leaf;
      const size_t offset = i * sizeof(T);
      counter.Add(dot ? reference::DotLeaf<T>(x + offset, y + offset, length, ignore_nans)
                      : reference::Leaf<T>(x + offset, length, ignore_nans));
    }
    State state = counter.Total();
    if (!dot) reference::SetExtrema<T>(x, count, ignore_nans, first_index, &state);
    return state;
  });
}

}  // namespace reduction::testing
