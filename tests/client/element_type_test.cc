#include "reduction/element_type.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/element_type.h"

namespace reduction {
namespace {

TEST(ElementType, FollowsSizeAndSignOfIntegers) {
  static_assert(ElementTypeOf<long long>() == ElementType::kInt64);
  static_assert(ElementTypeOf<unsigned long>() == ElementType::kUint64);
  static_assert(ElementTypeOf<signed char>() == ElementType::kInt8);
  static_assert(ElementTypeOf<bfloat16>() == ElementType::kBfloat16);
  static_assert(!Element<bool> && !Element<char> && !Element<long double> && !Element<wchar_t>);
  static_assert(std::is_same_v<ValueOf<uint8_t>, uint64_t>);
  static_assert(std::is_same_v<ValueOf<int8_t>, int64_t>);
  static_assert(std::is_same_v<ValueOf<float16>, double>);
  for (const kernels::ElementType type : kernels::kAllElementTypes) {
    EXPECT_EQ(ElementSize(static_cast<ElementType>(type)), kernels::ElementSize(type));
    EXPECT_EQ(ElementTypeName(static_cast<ElementType>(type)), kernels::ElementTypeName(type));
  }
}

TEST(Float16, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float16 original;
    original.bits = static_cast<uint16_t>(bits);
    const float value = static_cast<float>(original);
    const float16 again(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(again)));
    } else {
      ASSERT_EQ(again.bits, original.bits) << value;
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  // Halfway between each value and the next, and one float beside it on either side.
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    float16 lower, upper;
    lower.bits = bits;
    upper.bits = static_cast<uint16_t>(bits + 1);
    const float half = (static_cast<float>(lower) + static_cast<float>(upper)) / 2;
    const uint16_t even = bits % 2 == 0 ? lower.bits : upper.bits;
    ASSERT_EQ(float16(half).bits, even) << half;
    ASSERT_EQ(float16(std::nextafter(half, 0.0f)).bits, lower.bits) << half;
    ASSERT_EQ(float16(std::nextafter(half, 1e9f)).bits, upper.bits) << half;
    ASSERT_EQ(float16(-half).bits, even | 0x8000) << half;
  }
}

TEST(Float16, OverflowsToInfinity) {
  EXPECT_EQ(float16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(float16(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
  EXPECT_EQ(float16(1e-30f).bits, 0);
}

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(bfloat16(1.00390625f).bits, 0x3f80);  // halfway, to even
  EXPECT_EQ(bfloat16(1.01171875f).bits, 0x3f82);  // halfway, to even
  EXPECT_EQ(bfloat16(std::nextafter(1.00390625f, 2.0f)).bits, 0x3f81);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(NAN))));
  EXPECT_EQ(static_cast<float>(bfloat16(-2.5f)), -2.5f);
}

}  // namespace
}  // namespace reduction
