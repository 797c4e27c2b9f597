// Arrays of floats of so many magnitudes that the order of additions shows in their sums.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/element_type.h"
#include "tests/random_array.h"

namespace reduction::testing {

// A finite number: of magnitude 2^-30 to 2^30, of float16 any; now and then a zero of either sign.
// Of integers any.
template <class T>
T WideElement(std::mt19937_64& random) {
  const uint64_t bits = random();
  if constexpr (!kernels::kIsFloating<T>) {
    return static_cast<T>(bits);
  } else if constexpr (std::is_same_v<T, kernels::Float16>) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const bool finite = (half & 0x7c00u) != 0x7c00u;
    return {static_cast<uint16_t>(finite ? half : half & 0x83ffu)};
  } else {
    const double sign = (bits & 1) != 0 ? -1 : 1;
    if ((bits >> 1 & 63) == 0) return ElementOf<T>(sign * 0.0);
    const double significand = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
    const int exponent = static_cast<int>(random() % 61) - 30;
    return ElementOf<T>(sign * std::ldexp(significand, exponent));
  }
}

// `count` of them as bytes.
inline std::vector<std::byte> WideArray(kernels::ElementType type, size_t count,
                                        std::mt19937_64& random) {
  return kernels::DispatchElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<std::byte> bytes(count * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      const T element = WideElement<T>(random);
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
    return bytes;
  });
}

}  // namespace reduction::testing
