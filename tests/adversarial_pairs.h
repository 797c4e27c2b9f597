// Numbers on which careless summation loses digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/fixed_order.h"
#include "tests/random_array.h"
#include "tests/wide_array.h"

namespace reduction::testing {

enum class Hardship {
  kCancellation,   // what is added is taken away again, but for one small number
  kDecades,        // both signs, log-uniform over 60 decades (of float16: any finite number)
  kDenormals,      // subnormals; every other y is of ordinary magnitude
  kConstantNoise,  // a constant that is large next to the noise on it
  kDrips,          // 1, then numbers below half its last digit
  kOutlierFirst,   // a huge number, then zeros and ones
  kOutliersLead,   // noise, but every leaf begins with an outlier
  kTenths,         // one tenth all along
};
inline constexpr Hardship kAllHardships[] = {
    Hardship::kCancellation,  Hardship::kDecades, Hardship::kDenormals,
    Hardship::kConstantNoise, Hardship::kDrips,   Hardship::kOutlierFirst,
    Hardship::kOutliersLead,  Hardship::kTenths,
};
inline std::string_view HardshipName(Hardship hardship) {
  constexpr std::string_view kNames[] = {"cancellation",   "decades", "denormals",
                                         "constant noise", "drips",   "outlier first",
                                         "outliers lead",  "tenths"};
  return kNames[static_cast<size_t>(hardship)];
}

// Two arrays of one length, for sums of x and dots of x and y.
template <class T>
struct Pairs {
  std::vector<T> x;
  std::vector<T> y;
};

template <class T>
T DecadesElement(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, kernels::Float16>) return WideElement<T>(random);
  std::uniform_real_distribution<double> exponent(-100, 100);  // 200 / log2(10) = 60.2
  return ElementOf<T>((random() % 2 == 0 ? 1 : -1) * std::exp2(exponent(random)));
}

template <class T>
T SubnormalElement(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, kernels::Float16>) {
    return {static_cast<uint16_t>(random() & 0x83ffu)};
  } else if constexpr (std::is_same_v<T, kernels::Bfloat16>) {
    return {static_cast<uint16_t>(random() & 0x807fu)};
  } else if constexpr (std::is_same_v<T, float>) {
    return kernels::BitCast<float>(static_cast<uint32_t>(random() & 0x807fffffu));
  } else {
    return kernels::BitCast<double>(random() & 0x800fffffffffffffu);
  }
}

// The constant of kConstantNoise: the noise has still a few digits.
template <class T>
constexpr double LargeConstant() {
  if (sizeof(T) == 2) return 100;
  return sizeof(T) == 4 ? 1e4 : 1e12;
}

template <class T>
Pairs<T> MakePairs(Hardship hardship, size_t count, std::mt19937_64& random) {
  Pairs<T> pairs;
  std::normal_distribution<double> noise;
  const double outlier = sizeof(T) == 2 ? 60'000 : 1e9;
  for (size_t i = 0; i < count; ++i) {
    T x = ElementOf<T>(0.1);
    T y = ElementOf<T>(1);
    switch (hardship) {
      case Hardship::kCancellation:
        x = WideElement<T>(random);
        y = WideElement<T>(random);
        if (i % 2 == 1) {
          x = ElementOf<T>(-kernels::ToReal(pairs.x.back()));
          y = pairs.y.back();
        }
        if (i + 1 == count) x = y = ElementOf<T>(0x1p-12);
        break;
      case Hardship::kDecades:
        x = DecadesElement<T>(random);
        y = DecadesElement<T>(random);
        break;
      case Hardship::kDenormals:
        x = SubnormalElement<T>(random);
        y = i % 2 == 0 ? SubnormalElement<T>(random) : DecadesElement<T>(random);
        break;
      case Hardship::kConstantNoise:
        x = ElementOf<T>(LargeConstant<T>() + noise(random));
        y = ElementOf<T>(noise(random) - LargeConstant<T>());
        break;
      case Hardship::kDrips:
        x = ElementOf<T>(i == 0 ? 1 : std::is_same_v<T, kernels::Float16> ? 0x1p-14 : 0x1p-54);
        break;
      case Hardship::kOutlierFirst:
        x = ElementOf<T>(i == 0 ? outlier : static_cast<double>(i % 2));
        break;
      case Hardship::kOutliersLead:
        x = ElementOf<T>(i % (kernels::kLeafBytes / sizeof(T)) == 0 ? outlier * noise(random) / 8
                                                                    : noise(random));
        y = ElementOf<T>(noise(random));
        break;
      case Hardship::kTenths:
        break;
    }
    pairs.x.push_back(x);
    pairs.y.push_back(y);
  }
  if (hardship == Hardship::kCancellation) {
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    const Pairs<T> sorted = pairs;
    for (size_t i = 0; i < count; ++i) {
      pairs.x[i] = sorted.x[order[i]];
      pairs.y[i] = sorted.y[order[i]];
    }
  }
  return pairs;
}

}  // namespace reduction::testing
