// From states to values: exact means, overflow, empty arrays, NaNs, degrees of freedom.
#include "kernels/result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace reduction::testing {
namespace {

using namespace kernels;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kCanonicalNan = 0x7ff8000000000000u;

__int128 Wide(const Int128& x) {
  return static_cast<__int128>(static_cast<unsigned __int128>(static_cast<uint64_t>(x.high)) << 64 |
                               x.low);
}
Int128 Narrow(__int128 x) {
  Int128 r;
  r.low = static_cast<uint64_t>(x);
  r.high = static_cast<int64_t>(x >> 64);
  return r;
}

// Whether `mean` is the float64 nearest to sum / count, ties to even: by long hand, comparing the
// exact distance to it with that to its neighbours, in units of count * 2^exponent.
// |sum| < 2^100 / count keeps the products in 128 bits.
::testing::AssertionResult IsNearest(__int128 sum, uint64_t count, double mean) {
  // Compare 2 * sum / count with (mean + neighbour), whose halves are the rounding boundaries.
  for (const double toward : {-kInfinity, kInfinity}) {
    const double neighbour = std::nextafter(mean, toward);
    int exponent;
    std::frexp(std::fabs(mean) > std::fabs(neighbour) ? neighbour : mean, &exponent);
    const int scale = 54 - exponent;  // both are integers times 2^-scale
    const __int128 boundary = static_cast<__int128>(std::ldexp(mean, scale)) +
                              static_cast<__int128>(std::ldexp(neighbour, scale));
    // 2 * sum * 2^scale against boundary * count.
    __int128 left = 2 * sum;
    __int128 right = boundary * static_cast<__int128>(count);
    if (scale >= 0) {
      if (scale > 26) return ::testing::AssertionFailure() << "out of the range of this check";
      left <<= scale;
    } else {
      // The boundary's unit is 2^-scale: shift the right side instead.
      right <<= -scale;
    }
    const bool beyond = toward > 0 ? left > right : left < right;
    const bool tie = left == right;
    const bool odd = (BitCast<uint64_t>(mean) & 1) != 0;
    if (beyond || (tie && odd)) {
      return ::testing::AssertionFailure() << "nearer to " << neighbour << " than to " << mean;
    }
  }
  return ::testing::AssertionSuccess();
}

TEST(ExactMeanTest, IsTheNearestDoubleOfLongDivision) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    // |sum / count| between 2^30 and 2^60, so that the check's products fit in 128 bits.
    const uint64_t count = random() % (uint64_t{1} << (random() % 20 + 1)) + 1;
    const __int128 quotient =
        static_cast<__int128>(random() >> (4 + random() % 30)) + (int64_t{1} << 30);
    __int128 sum = quotient * static_cast<__int128>(count) + random() % count;
    if (random() % 2 == 0) sum = -sum;
    const double mean = ExactMean(Narrow(sum), count);
    // The check tells a double from its neighbours.
    ASSERT_FALSE(IsNearest(sum, count, std::nextafter(mean, 0)));
    ASSERT_TRUE(IsNearest(sum, count, mean))
        << static_cast<int64_t>(sum >> 64) << ' ' << static_cast<uint64_t>(sum) << " / " << count;
  }
}

TEST(ExactMeanTest, KnownQuotients) {
  EXPECT_EQ(ExactMean(Narrow(0), 7), 0.0);
  EXPECT_FALSE(std::signbit(ExactMean(Narrow(0), 7)));
  EXPECT_EQ(ExactMean(Narrow(1), 3), 1.0 / 3);
  EXPECT_EQ(ExactMean(Narrow(-2), 3), -2.0 / 3);
  EXPECT_EQ(ExactMean(Narrow(1), UINT64_MAX), 0x1p-64);
  const __int128 one = 1;
  EXPECT_EQ(ExactMean(Narrow(one << 126), 1), 0x1p126);
  EXPECT_EQ(ExactMean(Narrow(-(one << 126) * 2), 1), -0x1p127);
  EXPECT_EQ(ExactMean(Narrow((one << 53) + 1), 1), 0x1p53);            // a tie goes to even
  EXPECT_EQ(ExactMean(Narrow((one << 53) + 3), 1), 0x1p53 + 4);        // and here up
  EXPECT_EQ(ExactMean(Narrow((one << 80) + (one << 27)), 1), 0x1p80);  // a tie
  EXPECT_EQ(ExactMean(Narrow((one << 80) + (one << 27) + 1), 1), 0x1p80 + 0x1p28);
  // 2^54 + 2 + 1/3: beyond the tie by the remainder alone.
  EXPECT_EQ(ExactMean(Narrow(((one << 54) + 2) * 3 + 1), 3), 0x1p54 + 4);
  EXPECT_EQ(ExactMean(Narrow(((one << 54) + 2) * 3), 3), 0x1p54);
  EXPECT_EQ(ExactMean(Narrow(static_cast<__int128>(UINT64_MAX) * UINT32_MAX), UINT32_MAX), 0x1p64);
}

TEST(Int128Test, HalvesOfSignedSumsAddUp) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t low = random() >> 1;
    const int64_t high = static_cast<int64_t>(random());
    EXPECT_TRUE(Wide(Int128::FromHalves(low, high)) ==
                static_cast<__int128>(high) * (int64_t{1} << 32) + low);
    const int64_t a = static_cast<int64_t>(random());
    EXPECT_TRUE(Wide(Int128::FromInt64(a) + Int128::FromUint64(low)) ==
                static_cast<__int128>(a) + low);
  }
}

Result Final(Statistic statistic, ElementType type, const State& state, uint64_t elements,
             const ResultOptions& options = {}) {
  return Finalize(statistic, type, state, elements, options);
}
uint64_t Bits(const Result& result) { return BitCast<uint64_t>(std::get<double>(result.value)); }

TEST(FinalizeTest, EmptyArraysHaveSumsAndCountsAlone) {
  for (const ElementType type : kAllElementTypes) {
    for (const Statistic statistic : kAllStatistics) {
      const Result result = Final(statistic, type, State{}, 0);
      const bool undefined = statistic == Statistic::kMin || statistic == Statistic::kMax ||
                             statistic == Statistic::kArgmin || statistic == Statistic::kArgmax ||
                             statistic == Statistic::kMean || statistic == Statistic::kVariance ||
                             statistic == Statistic::kStandardDeviation;
      EXPECT_EQ(result.error, undefined ? ResultError::kEmpty : ResultError::kNone)
          << StatisticName(statistic);
      if (!undefined) {
        EXPECT_TRUE(result.value == Value(0.0) || result.value == Value(int64_t{0}) ||
                    result.value == Value(uint64_t{0}))
            << StatisticName(statistic);
      }
    }
  }
}

TEST(FinalizeTest, OfIgnoredNansAloneExtremaMeanAndVarianceAreNanAndArgIsAbsent) {
  State state;
  state.nan_count = 5;
  for (const Statistic statistic : {Statistic::kMin, Statistic::kMax, Statistic::kMean,
                                    Statistic::kVariance, Statistic::kStandardDeviation}) {
    const Result result = Final(statistic, ElementType::kFloat32, state, 5);
    EXPECT_EQ(result.error, ResultError::kNone);
    EXPECT_EQ(Bits(result), kCanonicalNan) << StatisticName(statistic);
  }
  for (const Statistic statistic : {Statistic::kArgmin, Statistic::kArgmax}) {
    const Result result = Final(statistic, ElementType::kFloat32, state, 5);
    EXPECT_EQ(result.error, ResultError::kNone);
    EXPECT_EQ(result.value, Value(std::monostate()));
  }
  EXPECT_EQ(Final(Statistic::kNanCount, ElementType::kFloat32, state, 5).value, Value(uint64_t{5}));
}

TEST(FinalizeTest, NansAreCanonical) {
  const double odd_nan = BitCast<double>(0xfff8000000000001u);
  State state;
  state.count = 3;
  state.sum = state.sum_squares = state.l1 = state.m2 = odd_nan;
  state.min_key = kLowestKey;
  state.max_key = kHighestKey;
  for (const Statistic statistic :
       {Statistic::kSum, Statistic::kDot, Statistic::kMin, Statistic::kMax, Statistic::kMean,
        Statistic::kVariance, Statistic::kStandardDeviation, Statistic::kSumOfSquares,
        Statistic::kL1Norm, Statistic::kL2Norm}) {
    EXPECT_EQ(Bits(Final(statistic, ElementType::kFloat64, state, 3)), kCanonicalNan)
        << StatisticName(statistic);
  }
}

TEST(FinalizeTest, DegreesOfFreedomBeyondTheCountGiveNan) {
  State state;
  state.count = 4;
  state.m2 = 10;
  const auto variance = [&](uint64_t ddof) {
    return Final(Statistic::kVariance, ElementType::kFloat64, state, 4,
                 {OverflowPolicy::kWrap, ddof});
  };
  EXPECT_EQ(variance(0).value, Value(2.5));
  EXPECT_EQ(variance(3).value, Value(10.0));
  EXPECT_EQ(Bits(variance(4)), kCanonicalNan);
  EXPECT_EQ(Bits(variance(UINT64_MAX)), kCanonicalNan);
  EXPECT_EQ(Final(Statistic::kStandardDeviation, ElementType::kFloat64, state, 4).value,
            Value(std::sqrt(2.5)));
}

TEST(FinalizeTest, VarianceIsNeverNegative) {
  State state;
  state.count = 2;
  state.m2 = -1e-300;
  EXPECT_EQ(Final(Statistic::kVariance, ElementType::kFloat64, state, 2).value, Value(0.0));
  EXPECT_EQ(Final(Statistic::kStandardDeviation, ElementType::kFloat64, state, 2).value,
            Value(0.0));
}

TEST(FinalizeTest, SumsWrapOrAreCheckedAtTheLimitsOf64Bits) {
  const auto sum = [](ElementType type, __int128 value, OverflowPolicy overflow) {
    State state;
    state.count = 2;
    state.integer_sum = Narrow(value);
    return Final(Statistic::kSum, type, state, 2, {overflow, 0});
  };
  const __int128 top = static_cast<__int128>(INT64_MAX) + 1;
  for (const auto type : {ElementType::kInt8, ElementType::kInt64}) {
    EXPECT_EQ(sum(type, top, OverflowPolicy::kWrap).value, Value(INT64_MIN));
    EXPECT_EQ(sum(type, top, OverflowPolicy::kCheck).error, ResultError::kOverflow);
    EXPECT_EQ(sum(type, top - 1, OverflowPolicy::kCheck).value, Value(INT64_MAX));
    EXPECT_EQ(sum(type, -top, OverflowPolicy::kCheck).value, Value(INT64_MIN));
    EXPECT_EQ(sum(type, -top - 1, OverflowPolicy::kCheck).error, ResultError::kOverflow);
  }
  const __int128 whole = static_cast<__int128>(UINT64_MAX) + 1;
  for (const auto type : {ElementType::kUint16, ElementType::kUint64}) {
    EXPECT_EQ(sum(type, whole + 3, OverflowPolicy::kWrap).value, Value(uint64_t{3}));
    EXPECT_EQ(sum(type, whole, OverflowPolicy::kCheck).error, ResultError::kOverflow);
    EXPECT_EQ(sum(type, whole - 1, OverflowPolicy::kCheck).value, Value(UINT64_MAX));
  }
}

TEST(FinalizeTest, ExtremaComeBackFromTheirKeys) {
  const auto round_trip = [](auto element) {
    using T = decltype(element);
    State state;
    state.count = 1;
    state.min_key = state.max_key = OrderKey(element);
    const Result low = Final(Statistic::kMin, ElementTypeOf<T>(), state, 1);
    const Result high = Final(Statistic::kMax, ElementTypeOf<T>(), state, 1);
    EXPECT_EQ(low.value, high.value);
    if constexpr (kIsFloating<T>) {
      EXPECT_EQ(Bits(low), BitCast<uint64_t>(ToReal(element)));
    } else if constexpr (std::is_signed_v<T>) {
      EXPECT_EQ(low.value, Value(int64_t{element}));
    } else {
      EXPECT_EQ(low.value, Value(uint64_t{element}));
    }
  };
  for (const double x : {0.0, -0.0, 1.5, -2.0, kInfinity, -kInfinity, 5e-324}) {
    round_trip(x);
    round_trip(static_cast<float>(x));
  }
  for (const uint16_t bits : {0x0000, 0x8000, 0x0001, 0x83ff, 0x3c00, 0x7c00, 0xfc00, 0x7bff}) {
    round_trip(Float16{bits});
    round_trip(Bfloat16{bits});
  }
  for (const int64_t x : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    round_trip(x);
    round_trip(static_cast<uint64_t>(x));
    round_trip(static_cast<int32_t>(x >> 32));
    round_trip(static_cast<uint32_t>(x >> 32));
    round_trip(static_cast<int16_t>(x >> 48));
    round_trip(static_cast<uint16_t>(x >> 48));
    round_trip(static_cast<int8_t>(x >> 56));
    round_trip(static_cast<uint8_t>(x >> 56));
  }
}

}  // namespace
}  // namespace reduction::testing
