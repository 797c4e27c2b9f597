// Arrays of random elements that are hard on a reduction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/element_type.h"

namespace reduction::testing {

enum class Filling {
  kAnyBits,   // every bit pattern: NaNs, infinities and subnormals of floats included
  kModest,    // small values of both signs (where there are), zeros of both signs, no NaN
  kMixed,     // modest, with a few NaNs (of floats) or limits of the type (of integers)
  kConstant,  // one value over and over
};
inline constexpr Filling kAllFillings[] = {Filling::kAnyBits, Filling::kModest, Filling::kMixed,
                                           Filling::kConstant};

// binary16 bits of a float, truncated: numbers beyond the range become infinities, subnormal ones
// zeros. A NaN is a quiet one of its sign.
inline uint16_t TruncatedFloat16(float x) {
  const uint32_t bits = kernels::BitCast<uint32_t>(x);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const int exponent = static_cast<int>(bits >> 23 & 0xffu) - 112;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return static_cast<uint16_t>(sign | (x != x ? 0x7e00u : 0x7c00u));
  return static_cast<uint16_t>(sign | static_cast<uint32_t>(exponent) << 10 |
                               (bits >> 13 & 0x3ffu));
}

template <class T>
T ElementOf(double value) {
  if constexpr (std::is_same_v<T, kernels::Float16>) {
    return {TruncatedFloat16(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<T, kernels::Bfloat16>) {
    return {static_cast<uint16_t>(kernels::BitCast<uint32_t>(static_cast<float>(value)) >> 16)};
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(static_cast<int64_t>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
T RandomBits(std::mt19937_64& random) {
  const uint64_t bits = random();
  T element;
  std::memcpy(&element, &bits, sizeof(T));
  return element;
}

template <class T>
T ModestElement(std::mt19937_64& random) {
  const int64_t integer = static_cast<int64_t>(random() % 201) - 100;
  if constexpr (kernels::kIsFloating<T>) {
    if (integer == 0) return ElementOf<T>(random() % 2 == 0 ? 0.0 : -0.0);
    return ElementOf<T>(static_cast<double>(integer) * (1 + static_cast<double>(random() % 8) / 8));
  } else {
    return static_cast<T>(integer);
  }
}

template <class T>
T ExtremeElement(std::mt19937_64& random) {
  if constexpr (kernels::kIsFloating<T>) {
    return ElementOf<T>(std::numeric_limits<double>::quiet_NaN());
  } else {
    return random() % 2 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
}

// `count` elements of `type` as bytes.
inline std::vector<std::byte> RandomArray(kernels::ElementType type, Filling filling, size_t count,
                                          std::mt19937_64& random) {
  return kernels::DispatchElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<std::byte> bytes(count * sizeof(T));
    const T constant = ModestElement<T>(random);
    for (size_t i = 0; i < count; ++i) {
      T element = constant;
      if (filling == Filling::kAnyBits) element = RandomBits<T>(random);
      if (filling == Filling::kModest || filling == Filling::kMixed) {
        element = ModestElement<T>(random);
      }
      if (filling == Filling::kMixed && random() % 500 == 0) element = ExtremeElement<T>(random);
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
    return bytes;
  });
}

}  // namespace reduction::testing
