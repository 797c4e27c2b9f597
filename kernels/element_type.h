// Element types: the numbers that an array can hold, and how each maps to arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#ifdef __CUDACC__
#define REDUCTION_HOST_DEVICE __host__ __device__
#else
#define REDUCTION_HOST_DEVICE
#endif

namespace reduction::kernels {

// Values equal those of reduction.v1.ElementType.
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

// IEEE 754 binary16 and the upper half of binary32, as stored; arithmetic happens after ToReal().
struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

template <class To, class From>
REDUCTION_HOST_DEVICE inline To BitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

// Exact: every binary16 value, subnormals included, is a binary32 value.
REDUCTION_HOST_DEVICE inline float ToFloat(Float16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t exponent = (x.bits >> 10) & 0x1fu;
  const uint32_t fraction = x.bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t biased = exponent == 0x1f ? 0xffu : exponent + 112;
  return BitCast<float>(sign | (biased << 23) | (fraction << 13));
}
REDUCTION_HOST_DEVICE inline float ToFloat(Bfloat16 x) {
  return BitCast<float>(static_cast<uint32_t>(x.bits) << 16);
}

template <class T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

// The element as float64: exact for all types but 64-bit integers, which round to nearest even.
template <class T>
REDUCTION_HOST_DEVICE inline double ToReal(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(x);
  } else {
    return static_cast<double>(ToFloat(x));
  }
}

template <class T>
REDUCTION_HOST_DEVICE inline bool IsNan(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x != x;
  } else if constexpr (kIsFloating<T>) {
    const float f = ToFloat(x);
    return f != f;
  } else {
    return false;
  }
}

// Order keys: signed integers that order like the elements, with -0 below +0. Not defined for NaN.
// Elements of at most 32 bits have keys that fit in 32 bits.
REDUCTION_HOST_DEVICE inline int64_t OrderKey(double x) {
  const int64_t bits = BitCast<int64_t>(x);
  return bits ^ ((bits >> 63) & INT64_MAX);
}
REDUCTION_HOST_DEVICE inline int32_t OrderKey(float x) {
  const int32_t bits = BitCast<int32_t>(x);
  return bits ^ ((bits >> 31) & INT32_MAX);
}
REDUCTION_HOST_DEVICE inline int32_t OrderKey(Float16 x) { return OrderKey(ToFloat(x)); }
REDUCTION_HOST_DEVICE inline int32_t OrderKey(Bfloat16 x) { return OrderKey(ToFloat(x)); }
template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
REDUCTION_HOST_DEVICE inline auto OrderKey(T x) {
  if constexpr (sizeof(T) == 8) {
    if constexpr (std::is_signed_v<T>) return static_cast<int64_t>(x);
    return static_cast<int64_t>(x ^ (uint64_t{1} << 63));
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return static_cast<int32_t>(x ^ 0x80000000u);
  } else {
    return static_cast<int32_t>(x);
  }
}
template <class T>
using OrderKeyOf = decltype(OrderKey(T{}));

template <class T>
struct TypeTag {
  using type = T;
};

// Calls `f` with the TypeTag of `type`'s C++ type. All calls must return the same type.
template <class F>
decltype(auto) DispatchElementType(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kFloat16:
      return f(TypeTag<Float16>{});
    case ElementType::kBfloat16:
      return f(TypeTag<Bfloat16>{});
    case ElementType::kFloat32:
      return f(TypeTag<float>{});
    case ElementType::kFloat64:
      return f(TypeTag<double>{});
    case ElementType::kInt8:
      return f(TypeTag<int8_t>{});
    case ElementType::kInt16:
      return f(TypeTag<int16_t>{});
    case ElementType::kInt32:
      return f(TypeTag<int32_t>{});
    case ElementType::kInt64:
      return f(TypeTag<int64_t>{});
    case ElementType::kUint8:
      return f(TypeTag<uint8_t>{});
    case ElementType::kUint16:
      return f(TypeTag<uint16_t>{});
    case ElementType::kUint32:
      return f(TypeTag<uint32_t>{});
    case ElementType::kUint64:
      break;
  }
  return f(TypeTag<uint64_t>{});
}

template <class T>
constexpr ElementType ElementTypeOf() {
  if constexpr (std::is_same_v<T, Float16>) return ElementType::kFloat16;
  if constexpr (std::is_same_v<T, Bfloat16>) return ElementType::kBfloat16;
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return ElementType::kFloat64;
  if constexpr (std::is_same_v<T, int8_t>) return ElementType::kInt8;
  if constexpr (std::is_same_v<T, int16_t>) return ElementType::kInt16;
  if constexpr (std::is_same_v<T, int32_t>) return ElementType::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return ElementType::kInt64;
  if constexpr (std::is_same_v<T, uint8_t>) return ElementType::kUint8;
  if constexpr (std::is_same_v<T, uint16_t>) return ElementType::kUint16;
  if constexpr (std::is_same_v<T, uint32_t>) return ElementType::kUint32;
  if constexpr (std::is_same_v<T, uint64_t>) return ElementType::kUint64;
}

inline size_t ElementSize(ElementType type) {
  return DispatchElementType(type, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}
inline bool IsFloating(ElementType type) {
  return DispatchElementType(type,
                             [](auto tag) { return kIsFloating<typename decltype(tag)::type>; });
}
inline bool IsSigned(ElementType type) {
  return IsFloating(type) || (type >= ElementType::kInt8 && type <= ElementType::kInt64);
}

// "float32", "uint8", …: the names NumPy uses, and "bfloat16".
std::string_view ElementTypeName(ElementType type);
// False when `name` is none of those names.
bool ParseElementType(std::string_view name, ElementType* type);

inline constexpr ElementType kAllElementTypes[] = {
    ElementType::kFloat16, ElementType::kBfloat16, ElementType::kFloat32, ElementType::kFloat64,
    ElementType::kInt8,    ElementType::kInt16,    ElementType::kInt32,   ElementType::kInt64,
    ElementType::kUint8,   ElementType::kUint16,   ElementType::kUint32,  ElementType::kUint64,
};

}  // namespace reduction::kernels
