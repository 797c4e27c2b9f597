// Copies of a leaf in which the elements that do not take part are replaced by neutral ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/fixed_order.h"

namespace reduction::kernels {

template <class T>
inline T LoadElement(const std::byte* bytes) {
  T element;
  std::memcpy(&element, bytes, sizeof(T));
  return element;
}

// Whole rows of a leaf, seen two ways: elements that do not take part are zeros in `zeros` (neutral
// in sums) and copies of the first element that does in `copies` (neutral in extrema and in sums
// of deviations from it). Both point to the array itself when every element takes part.
struct LeafView {
  const std::byte* zeros;
  const std::byte* copies;
};

// Memory for the two copies of one leaf.
template <class T>
class PatchedLeaf {
 public:
  // Pads `count` elements to `rows` rows. count > 0.
  LeafView Pad(const std::byte* x, size_t count, size_t rows) {
    std::memcpy(zeros_, x, count * sizeof(T));
    std::memcpy(copies_, x, count * sizeof(T));
    Fill(count, rows, LoadElement<T>(x));
    return {zeros_, copies_};
  }

  // The same, and NaNs do not take part. At least one element is no NaN; *first gets the first.
  LeafView PadWithoutNans(const std::byte* x, size_t count, size_t rows, T* first) {
    size_t kept = 0;
    while (IsNan(LoadElement<T>(x + kept * sizeof(T)))) ++kept;
    *first = LoadElement<T>(x + kept * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      const T element = LoadElement<T>(x + i * sizeof(T));
      const bool drop = IsNan(element);
      Store(zeros_, i, drop ? T{} : element);
      Store(copies_, i, drop ? *first : element);
    }
    Fill(count, rows, *first);
    return {zeros_, copies_};
  }

  // Pads the pairs of a dot, {x, y}, with zeros. Under kIgnore pairs with a NaN become zeros.
  // Returns the number of pairs that stay.
  size_t PadPairs(const std::byte* x, const std::byte* y, size_t count, size_t rows,
                  NanPolicy nan_policy, const std::byte** padded_x, const std::byte** padded_y) {
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      const T a = LoadElement<T>(x + i * sizeof(T));
      const T b = LoadElement<T>(y + i * sizeof(T));
      const bool drop = nan_policy == NanPolicy::kIgnore && (IsNan(a) || IsNan(b));
      Store(zeros_, i, drop ? T{} : a);
      Store(copies_, i, drop ? T{} : b);
      kept += drop ? 0 : 1;
    }
    Fill(count, rows, T{});
    *padded_x = zeros_;
    *padded_y = copies_;
    return kept;
  }

 private:
  static void Store(std::byte* buffer, size_t index, T element) {
    std::memcpy(buffer + index * sizeof(T), &element, sizeof(T));
  }
  void Fill(size_t count, size_t rows, T copy) {
    for (size_t i = count; i < rows * (kRowBytes / sizeof(T)); ++i) {
      Store(zeros_, i, T{});
      Store(copies_, i, copy);
    }
  }

  alignas(64) std::byte zeros_[kLeafBytes];
  alignas(64) std::byte copies_[kLeafBytes];
};

}  // namespace reduction::kernels
