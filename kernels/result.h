// From the state of an array to the values of its statistics.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>

#include "kernels/fixed_order.h"

namespace reduction::kernels {

// monostate: an absent arg (every element is an ignored NaN).
using Value = std::variant<std::monostate, double, int64_t, uint64_t>;

enum class OverflowPolicy : uint8_t { kWrap = 1, kCheck = 2 };

enum class ResultError : uint8_t {
  kNone,
  kEmpty,     // min, max, arg, mean or variance of no elements
  kOverflow,  // kCheck, and the sum does not fit in 64 bits
};

struct Result {
  Value value;
  ResultError error = ResultError::kNone;
};

struct ResultOptions {
  OverflowPolicy overflow = OverflowPolicy::kWrap;
  uint64_t ddof = 0;  // variance divides by n - ddof; NaN where ddof >= n
};

// x, or for any NaN, whose bits differ from device to device, the canonical quiet one.
inline double Canonical(double x) {
  return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x;
}

// The value of `statistic` of an array of `elements` elements (ignored NaNs included) in `state`.
// Sums and extrema of floats, means, variances and norms are double, NaNs canonical; sums of signed
// integers int64, of unsigned ones uint64; indexes and counts uint64.
Result Finalize(Statistic statistic, ElementType type, const State& state, uint64_t elements,
                const ResultOptions& options);

// sum / count, rounded once to nearest even. count > 0.
double ExactMean(const Int128& sum, uint64_t count);

}  // namespace reduction::kernels
