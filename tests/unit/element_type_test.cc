// Conversions, order keys and names of element types.
#include "kernels/element_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/statistics.h"

namespace reduction::testing {
namespace {

using namespace kernels;

TEST(Float16Test, EveryPatternHasItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int sign = bits & 0x8000 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const int fraction = static_cast<int>(bits & 0x3ff);
    const Float16 x{static_cast<uint16_t>(bits)};
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(IsNan(x));
      continue;
    }
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(BitCast<uint64_t>(ToReal(x)), BitCast<uint64_t>(sign * magnitude)) << bits;
    EXPECT_FALSE(IsNan(x));
  }
}

TEST(Bfloat16Test, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(ToReal(Bfloat16{0x3f80}), 1.0);
  EXPECT_EQ(ToReal(Bfloat16{0xc040}), -3.0);
  EXPECT_EQ(ToReal(Bfloat16{0x7f80}), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(IsNan(Bfloat16{0xff81}));
}

TEST(OrderKeyTest, OrdersLikeTheElementsWithNegativeZeroBelowPositive) {
  const double reals[] = {-INFINITY, -1e30, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, 1e30, INFINITY};
  for (size_t i = 1; i < std::size(reals); ++i) {
    EXPECT_LT(OrderKey(reals[i - 1]), OrderKey(reals[i]));
    EXPECT_LT(OrderKey(static_cast<float>(reals[i - 1])), OrderKey(static_cast<float>(reals[i])));
  }
  EXPECT_LT(OrderKey(uint64_t{0}), OrderKey(UINT64_MAX));
  EXPECT_LT(OrderKey(uint64_t{INT64_MAX}), OrderKey(uint64_t{1} << 63));
  EXPECT_LT(OrderKey(uint32_t{INT32_MAX}), OrderKey(uint32_t{1} << 31));
  EXPECT_LT(OrderKey(int8_t{-1}), OrderKey(int8_t{0}));
  EXPECT_LT(OrderKey(uint8_t{127}), OrderKey(uint8_t{128}));
}

TEST(ElementTypeNameTest, NamesParseBack) {
  for (const ElementType type : kAllElementTypes) {
    ElementType parsed{};
    EXPECT_TRUE(ParseElementType(ElementTypeName(type), &parsed));
    EXPECT_EQ(parsed, type);
  }
  ElementType untouched = ElementType::kInt8;
  EXPECT_FALSE(ParseElementType("", &untouched));
  EXPECT_FALSE(ParseElementType("float", &untouched));
  EXPECT_EQ(untouched, ElementType::kInt8);
}

TEST(ElementTypeTest, SizesAndKindsAreThoseOfTheNames) {
  for (const ElementType type : kAllElementTypes) {
    const std::string_view name = ElementTypeName(type);
    const auto bits = std::stoul(std::string(name.substr(name.find_first_of("0123456789"))));
    EXPECT_EQ(8 * ElementSize(type), bits) << name;
    EXPECT_EQ(IsFloating(type), name.find("float") != name.npos) << name;
    EXPECT_EQ(IsSigned(type), name.front() != 'u') << name;
  }
}

TEST(StatisticNameTest, EveryStatisticHasANameOfItsOwn) {
  for (const Statistic a : kAllStatistics) {
    EXPECT_FALSE(StatisticName(a).empty());
    for (const Statistic b : kAllStatistics) {
      EXPECT_EQ(StatisticName(a) == StatisticName(b), a == b);
    }
  }
}

}  // namespace
}  // namespace reduction::testing
