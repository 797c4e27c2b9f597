// The benchmark's data as integers, and exact references of what reductions of them must give; for
// the host and the device alike.
#pragma once

#include <cstdint>

#include "kernels/element_type.h"

namespace reduction::bench {

// Benchmark data are integers times a power of two, small enough that float64 sums of any order are
// exact: neither ones nor zeros, and every element is a function of its index. float32 data lie off
// the middle of 0, so that their sum is large against what a float32 sum may be wrong by.
struct DataScale {
  int64_t low;    // integers are low to low + range - 1
  int64_t range;  // a power of two, at most 2^23; so small that no dot of integers wraps
  double unit;    // what they are multiplied by
};
DataScale ScaleOf(kernels::ElementType type);

// The integer of the element with this index.
REDUCTION_HOST_DEVICE inline int64_t IntegerAt(const DataScale& scale, uint64_t index) {
  uint64_t x = (index + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return scale.low + static_cast<int64_t>(x & static_cast<uint64_t>(scale.range - 1));
}

// What is known of some elements, in units of the scale, and of their products with those of a
// second array. Sums of products are 128-bit: high * 2^32 + low.
struct Reference {
  static constexpr int kPositionBits = 40;

  int64_t sum = 0;
  int64_t magnitude = 0;  // sum of absolute values
  uint64_t nonzero = 0;
  // How far the extremum lies from its end of the scale, << kPositionBits, plus the position of the
  // first element that holds it.
  uint64_t lowest = UINT64_MAX;
  uint64_t highest = UINT64_MAX;
  uint64_t low = 0;
  int64_t high = 0;

  // Another element a, of which the second array's is b. position < 2^kPositionBits.
  REDUCTION_HOST_DEVICE void Add(const DataScale& scale, uint64_t position, int64_t a, int64_t b) {
    sum += a;
    magnitude += a < 0 ? -a : a;
    nonzero += a != 0 ? 1 : 0;
    const uint64_t from_low = static_cast<uint64_t>(a - scale.low);
    const uint64_t from_top = static_cast<uint64_t>(scale.low + scale.range - 1 - a);
    lowest = Lesser(lowest, from_low << kPositionBits | position);
    highest = Lesser(highest, from_top << kPositionBits | position);
    const int64_t product = a * b;
    low += static_cast<uint32_t>(product);
    high += product >> 32;
  }
  // The elements of `other` too.
  REDUCTION_HOST_DEVICE void Join(const Reference& other) {
    sum += other.sum;
    magnitude += other.magnitude;
    nonzero += other.nonzero;
    lowest = Lesser(lowest, other.lowest);
    highest = Lesser(highest, other.highest);
    low += other.low;
    high += other.high;
  }

  int64_t Min(const DataScale& scale) const {
    return scale.low + static_cast<int64_t>(lowest >> kPositionBits);
  }
  int64_t Max(const DataScale& scale) const {
    return scale.low + scale.range - 1 - static_cast<int64_t>(highest >> kPositionBits);
  }
  uint64_t argmin() const { return lowest % (uint64_t{1} << kPositionBits); }
  uint64_t argmax() const { return highest % (uint64_t{1} << kPositionBits); }
  // Rounded once: `low` alone may have more digits than a double.
  double Products() const {
    return static_cast<double>(high + static_cast<int64_t>(low >> 32)) * 0x1p32 +
           static_cast<double>(static_cast<uint32_t>(low));
  }

 private:
  REDUCTION_HOST_DEVICE static uint64_t Lesser(uint64_t a, uint64_t b) { return b < a ? b : a; }
};

}  // namespace reduction::bench
