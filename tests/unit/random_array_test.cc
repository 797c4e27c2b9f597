// The arrays that other tests are made of hold what they promise.
#include "tests/random_array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace reduction::testing {
namespace {

using namespace kernels;

TEST(TruncatedFloat16Test, KeepsWhatIsNoFiniteNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(TruncatedFloat16(kInfinity), 0x7c00);
  EXPECT_EQ(TruncatedFloat16(-kInfinity), 0xfc00);
  EXPECT_EQ(TruncatedFloat16(65536.0f), 0x7c00);
  EXPECT_EQ(TruncatedFloat16(-1e30f), 0xfc00);
  EXPECT_EQ(TruncatedFloat16(std::numeric_limits<float>::quiet_NaN()), 0x7e00);
  EXPECT_EQ(TruncatedFloat16(BitCast<float>(0xff800001u)), 0xfe00);
}

TEST(TruncatedFloat16Test, KeepsEveryNormalNumberAndZero) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint32_t exponent = bits >> 10 & 0x1f;
    if (exponent == 31 || (exponent == 0 && (bits & 0x3ff) != 0)) continue;
    EXPECT_EQ(TruncatedFloat16(ToFloat(Float16{static_cast<uint16_t>(bits)})), bits);
  }
}

// How many of the elements are NaNs, and how many infinities.
struct Specials {
  size_t nans = 0;
  size_t infinities = 0;
};

Specials SpecialsOf(ElementType type, Filling filling) {
  constexpr size_t kCount = 20'000;
  std::mt19937_64 random(5);
  const std::vector<std::byte> bytes = RandomArray(type, filling, kCount, random);
  return DispatchElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Specials specials;
    for (size_t i = 0; i < kCount; ++i) {
      T element;
      std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
      specials.nans += IsNan(element);
      specials.infinities += std::isinf(ToReal(element));
    }
    return specials;
  });
}

TEST(RandomArrayTest, HasNansOfEveryFloatTypeWhereItIsMixed) {
  for (const ElementType type : kAllElementTypes) {
    if (!IsFloating(type)) continue;
    const Specials mixed = SpecialsOf(type, Filling::kMixed);
    EXPECT_GT(mixed.nans, 0u) << ElementTypeName(type);
    EXPECT_EQ(mixed.infinities, 0u) << ElementTypeName(type);
    const Specials modest = SpecialsOf(type, Filling::kModest);
    EXPECT_EQ(modest.nans + modest.infinities, 0u) << ElementTypeName(type);
    EXPECT_GT(SpecialsOf(type, Filling::kAnyBits).nans, 0u) << ElementTypeName(type);
  }
}

}  // namespace
}  // namespace reduction::testing
