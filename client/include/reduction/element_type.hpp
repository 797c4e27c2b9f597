// Element types: the numbers that an array can hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace reduction {

// Values equal those on the wire.
enum class ElementType : uint8_t {
  kFloat16 = 1,
  kBfloat16 = 2,
  kFloat32 = 3,
  kFloat64 = 4,
  kInt8 = 5,
  kInt16 = 6,
  kInt32 = 7,
  kInt64 = 8,
  kUint8 = 9,
  kUint16 = 10,
  kUint32 = 11,
  kUint64 = 12,
};

// IEEE 754 binary16, as stored.
struct float16 {
  uint16_t bits = 0;

  float16() = default;
  // Rounds to nearest even; beyond the largest binary16 gives infinity, NaN stays NaN.
  explicit float16(float value);
  explicit operator float() const;
};

// The upper half of an IEEE 754 binary32, as stored.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  // Rounds to nearest even; beyond the largest bfloat16 gives infinity, NaN stays NaN.
  explicit bfloat16(float value);
  explicit operator float() const;
};

namespace detail {

template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && sizeof(T) <= 8 &&
                                   !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
                                   !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> &&
                                   !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;

template <class T>
consteval ElementType IntegerType() {
  constexpr bool kSigned = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return kSigned ? ElementType::kInt8 : ElementType::kUint8;
    case 2:
      return kSigned ? ElementType::kInt16 : ElementType::kUint16;
    case 4:
      return kSigned ? ElementType::kInt32 : ElementType::kUint32;
    default:
      return kSigned ? ElementType::kInt64 : ElementType::kUint64;
  }
}

}  // namespace detail

// C++ types that are elements: float16, bfloat16, float, double and the integers of 8 to 64 bits.
// Characters and bool are not.
template <class T>
concept Element = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> ||
    std::is_same_v<T, float> || std::is_same_v<T, double> || detail::kIsInteger<T>;

template <Element T>
consteval ElementType ElementTypeOf() {
  if constexpr (std::is_same_v<T, float16>) {
    return ElementType::kFloat16;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return ElementType::kBfloat16;
  } else if constexpr (std::is_same_v<T, float>) {
    return ElementType::kFloat32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::kFloat64;
  } else {
    return detail::IntegerType<T>();
  }
}

// What sums, extrema and dot products of T are: double for floats, int64_t for signed integers,
// uint64_t for unsigned ones.
template <Element T>
using ValueOf = std::conditional_t<!std::is_integral_v<T>, double,
                                   std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// Bytes of one element.
size_t ElementSize(ElementType type);

// "float32", "uint8", …: the names NumPy uses, and "bfloat16".
std::string_view ElementTypeName(ElementType type);

}  // namespace reduction
