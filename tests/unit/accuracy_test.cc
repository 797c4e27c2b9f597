// Results against exact sums of numbers on which careless summation loses digits: the error is
// within the bounds of docs/NUMERICS.md. The GPU gives the bits of the CPU, so this is of both.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_reduce.h"
#include "kernels/result.h"
#include "tests/adversarial_pairs.h"
#include "tests/exact_number.h"
#include "tests/test_environment.h"

namespace reduction::testing {
namespace {

using namespace kernels;

// gamma_k = k * u / (1 - k * u), u = 2^-53: what k roundings in a row can add, relatively.
double Gamma(double k) {
  const double ku = k * 0x1p-53;
  return ku / (1 - ku);
}

// The heights of the addition tree over `count` elements.
struct Tree {
  Tree(size_t element_bytes, uint64_t count) {
    const uint64_t lanes = kRowBytes / element_bytes;
    const uint64_t rows = std::min<uint64_t>(kRowsPerLeaf, (count + lanes - 1) / lanes);
    leaf = static_cast<int>(rows) + std::bit_width(lanes) - 1;
    above = std::bit_width(LeafCount(count * element_bytes) - 1);
  }
  int leaf;   // roundings of a product from its row to its leaf; of a mere element one less
  int above;  // and from its leaf to the whole
};

// Exact sums over x and y.
struct Sums {
  ExactNumber x, magnitudes, squares, products, product_magnitudes;
  ExactNumber leaf_squares;  // of the differences to the first element of each leaf
  double largest = 0;        // distance from the mean, to one part in 2^50
};

template <class T>
Sums SumExactly(const Pairs<T>& pairs) {
  Sums sums;
  const size_t leaf = kLeafBytes / sizeof(T);
  for (size_t i = 0; i < pairs.x.size(); ++i) {
    const double x = ToReal(pairs.x[i]);
    const double y = ToReal(pairs.y[i]);
    const double first = ToReal(pairs.x[i - i % leaf]);
    sums.x.Add(x);
    sums.magnitudes.Add(std::fabs(x));
    sums.squares.AddProduct(x, x);
    sums.products.AddProduct(x, y);
    sums.product_magnitudes.AddProduct(std::fabs(x), std::fabs(y));
    sums.leaf_squares.AddProduct(x, x);
    sums.leaf_squares.AddProduct(-2 * x, first);
    sums.leaf_squares.AddProduct(first, first);
  }
  const double mean = (sums.x.negative() ? -1 : 1) * sums.x.MagnitudeFromAbove() /
                      static_cast<double>(pairs.x.size());
  for (const T x : pairs.x) sums.largest = std::max(sums.largest, std::fabs(ToReal(x) - mean));
  return sums;
}

double Distance(ExactNumber exact, double factor, double value) {
  exact.AddProduct(-factor, value);
  return exact.MagnitudeFromAbove();
}

template <class T>
class Values {
 public:
  explicit Values(const Pairs<T>& pairs) : count_(pairs.x.size()) {
    const auto* x = reinterpret_cast<const std::byte*>(pairs.x.data());
    const auto* y = reinterpret_cast<const std::byte*>(pairs.y.data());
    all_ = ReduceOnCpu({kType, kAllOneArrayComponents}, x, nullptr, count_);
    dot_ = ReduceOnCpu({kType, kDotComponent}, x, y, count_);
  }
  double operator()(Statistic statistic, uint64_t ddof = 0) const {
    const State& state = statistic == Statistic::kDot ? dot_ : all_;
    return std::get<double>(
        Finalize(statistic, kType, state, count_, {OverflowPolicy::kWrap, ddof}).value);
  }

 private:
  static constexpr ElementType kType = ElementTypeOf<T>();
  uint64_t count_;
  State all_;
  State dot_;
};

// The bound of the sum of squared deviations from the mean.
template <class T>
double MomentsBound(const Sums& sums, double exact_m2, uint64_t count) {
  const Tree tree(sizeof(T), count);
  const double n = static_cast<double>(count);
  const double levels = tree.above;
  const double z = exact_m2 == 0 ? 0 : sums.largest / std::sqrt(exact_m2 / n);
  const double r = std::sqrt(levels) * (2 * levels + 5) * Gamma(tree.leaf + 2 * levels + 4) * z;
  return Gamma(3 * tree.leaf + 2 * levels + 13) * sums.leaf_squares.MagnitudeFromBelow() +
         (r + r * r / 4) * exact_m2 + (levels + 2) * n * 0x1p-1074;
}

template <class T>
void ExpectWithinBounds(const Pairs<T>& pairs) {
  const uint64_t count = pairs.x.size();
  const double n = static_cast<double>(count);
  const Sums sums = SumExactly(pairs);
  const Values<T> values(pairs);
  const Tree tree(sizeof(T), count);
  const int height = tree.leaf - 1 + tree.above;
  const double underflow = n * 0x1p-1074;

  const double magnitudes = sums.magnitudes.MagnitudeFromBelow();
  EXPECT_LE(Distance(sums.x, 1, values(Statistic::kSum)), Gamma(height) * magnitudes);
  EXPECT_LE(Distance(sums.magnitudes, 1, values(Statistic::kL1Norm)), Gamma(height) * magnitudes);
  EXPECT_LE(Distance(sums.x, n, values(Statistic::kMean)),
            Gamma(height + 1) * magnitudes + underflow);

  const double squares = sums.squares.MagnitudeFromBelow();
  EXPECT_LE(Distance(sums.squares, 1, values(Statistic::kSumOfSquares)),
            Gamma(height + 1) * squares + underflow);
  EXPECT_LE(Distance(sums.products, 1, values(Statistic::kDot)),
            Gamma(height + 1) * sums.product_magnitudes.MagnitudeFromBelow() + underflow);
  // Of a norm whose relative error is at most b, the square is off by at most 2b - b^2 below and
  // 2b + b^2 above.
  const double norm = values(Statistic::kL2Norm);
  const double b = Gamma(height + 2);
  EXPECT_LE(Distance(sums.squares, norm, norm), (2 * b - b * b) * squares + underflow);

  // n times the sum of squared deviations.
  const ExactNumber n_m2 = sums.squares.MagnitudeTimes(count) - sums.x.Squared();
  const double m2 = n_m2.MagnitudeFromBelow() / n;
  for (const uint64_t ddof : {0, 1}) {
    if (ddof >= count) continue;
    const double divisor = static_cast<double>(count - ddof);
    const double variance = values(Statistic::kVariance, ddof);
    EXPECT_LE(Distance(n_m2, n * divisor, variance) / n, MomentsBound<T>(sums, m2, count));
    EXPECT_EQ(values(Statistic::kStandardDeviation, ddof), std::sqrt(variance));
  }
}

template <class T>
class Accuracy : public ::testing::Test {
 protected:
  static std::vector<size_t> Lengths() {
    const size_t leaf = kLeafBytes / sizeof(T);
    if (kSanitized) return {1, 97, leaf + 1};
    return {1, 2, 97, leaf - 1, leaf + 1, 5 * leaf + 3, (size_t{1} << 17) + 1};
  }
  std::mt19937_64 random_{TestSeed()};
};
using FloatTypes = ::testing::Types<Float16, Bfloat16, float, double>;
struct TypeNames {
  template <class T>
  static std::string GetName(int) {
    return std::string(ElementTypeName(ElementTypeOf<T>()));
  }
};
TYPED_TEST_SUITE(Accuracy, FloatTypes, TypeNames);

TYPED_TEST(Accuracy, IsWithinTheDocumentedBounds) {
  SCOPED_TRACE(SeedTrace());
  for (const Hardship hardship : kAllHardships) {
    for (const size_t length : this->Lengths()) {
      SCOPED_TRACE(std::string(HardshipName(hardship)) + ", " + std::to_string(length));
      ExpectWithinBounds(MakePairs<TypeParam>(hardship, length, this->random_));
    }
  }
}

// The bound of the tree is too sharp for additions from left to right, in float64 too: 1 swallows
// every drip. Not so of float16, whose numbers float64 adds exactly.
template <class T>
class AccuracyOfAdditionsInARow : public ::testing::Test {};
using WideRangeTypes = ::testing::Types<Bfloat16, float, double>;
TYPED_TEST_SUITE(AccuracyOfAdditionsInARow, WideRangeTypes, TypeNames);

TYPED_TEST(AccuracyOfAdditionsInARow, IsNotWithinTheBound) {
  std::mt19937_64 random(TestSeed());
  const size_t length = 5 * kLeafBytes / sizeof(TypeParam);
  const auto pairs = MakePairs<TypeParam>(Hardship::kDrips, length, random);
  double naive = 0;
  for (const TypeParam x : pairs.x) naive += ToReal(x);
  const Sums sums = SumExactly(pairs);
  const Tree tree(sizeof(TypeParam), length);
  EXPECT_GT(Distance(sums.x, 1, naive),
            Gamma(tree.leaf - 1 + tree.above) * sums.magnitudes.MagnitudeFromAbove());
}

// Nor is that of moments wide enough for the mean of squares less the square of the mean.
TEST(VarianceAccuracy, OfTheTextbookFormulaIsNotWithinTheBound) {
  std::mt19937_64 random(TestSeed());
  const size_t length = 10'000;
  const auto pairs = MakePairs<double>(Hardship::kConstantNoise, length, random);
  const Sums sums = SumExactly(pairs);
  const Values<double> values(pairs);
  const double n = static_cast<double>(length);
  const double mean = values(Statistic::kMean);
  const double naive = values(Statistic::kSumOfSquares) - n * mean * mean;
  const ExactNumber n_m2 = sums.squares.MagnitudeTimes(length) - sums.x.Squared();
  const double m2 = n_m2.MagnitudeFromBelow() / n;
  EXPECT_GT(Distance(n_m2, n, naive) / n, 1000 * MomentsBound<double>(sums, m2, length));
}

// What docs/NUMERICS.md says of sums and squares that leave the range of float64.
TEST(OutOfRange, SumsAndSquaresAreNotScaled) {
  const auto of = [](Statistic statistic, const std::vector<double>& x) {
    return Values<double>({x, x})(statistic);
  };
  EXPECT_EQ(of(Statistic::kSum, {1e308, 1e308}), INFINITY);
  EXPECT_EQ(of(Statistic::kSum, {1e308, -1e308, 1e308, -1e308}), 0);  // neighbours meet first
  EXPECT_TRUE(std::isnan(of(Statistic::kSum, {1e308, 1e308, -1e308, -1e308})));
  EXPECT_EQ(of(Statistic::kL2Norm, {1e200}), INFINITY);
  EXPECT_EQ(of(Statistic::kL2Norm, {1e-200}), 0);
  EXPECT_TRUE(std::isnan(of(Statistic::kVariance, {1e200, -1e200})));
}

// The yardstick itself.
TEST(ExactNumberTest, AddsAndMultipliesWithoutRounding) {
  const double least = 0x1p-1074;
  const double most = std::numeric_limits<double>::max();
  ExactNumber sum;
  sum.AddProduct(most, most);
  sum.AddProduct(-least, least);
  sum.Add(1);
  sum.AddProduct(-most, most);
  EXPECT_FALSE(sum.negative());
  sum.Add(-1);
  EXPECT_TRUE(sum.negative());
  EXPECT_EQ(sum.MagnitudeFromAbove(), least);  // 2^-2148 is not zero
  sum.AddProduct(least, least);
  EXPECT_EQ(sum, ExactNumber());
  EXPECT_EQ(sum.MagnitudeFromAbove(), 0);

  // (a + b)^2 = a^2 + 2ab + b^2, times 3.
  const double a = 0x1.23456789abcdep600;
  const double b = -0x1.fedcba9876543p-900;
  ExactNumber root, square, triple;
  root.Add(a);
  root.Add(b);
  square.AddProduct(a, a);
  square.AddProduct(2 * a, b);
  square.AddProduct(b, b);
  EXPECT_EQ(root.Squared(), square);
  for (int i = 0; i < 3; ++i) {
    triple.AddProduct(a, a);
    triple.AddProduct(2 * a, b);
    triple.AddProduct(b, b);
  }
  EXPECT_EQ(square.MagnitudeTimes(3), triple);
  EXPECT_NE(square.MagnitudeTimes(3), square);

  ExactNumber third;
  third.Add(0x1.5555555555555p-2);
  EXPECT_LT(third.MagnitudeFromBelow(), 0x1.5555555555555p-2);
  EXPECT_GT(third.MagnitudeFromAbove(), 0x1.5555555555555p-2);
}

}  // namespace
}  // namespace reduction::testing
