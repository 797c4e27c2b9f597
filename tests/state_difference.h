// Compares states bit by bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <ios>
#include <sstream>
#include <string>

#include "kernels/partial.h"

namespace reduction::testing {

// Empty when the components of `plan` and the counts are the same in both states: equal bits, but
// any NaN for a NaN, and of a dot of 64-bit integers the low 64 bits alone. Devices differ in
// these; results and partials make them canonical, so the states' bytes in a partial must be equal
// too. Else it names each difference.
inline std::string StateDifference(const kernels::Plan& plan, const kernels::State& a,
                                   const kernels::State& b) {
  std::ostringstream out;
  const auto reals = [&out](const char* name, double x, double y) {
    if (std::isnan(x) && std::isnan(y)) return;
    if (kernels::BitCast<uint64_t>(x) != kernels::BitCast<uint64_t>(y)) {
      out << name << ' ' << std::hexfloat << x << " != " << y << std::defaultfloat << "; ";
    }
  };
  const auto integers = [&out](const char* name, auto x, auto y) {
    if (x != y) out << name << ' ' << x << " != " << y << "; ";
  };
  const auto has = [&plan](kernels::Components c) { return (plan.components & c) != 0; };
  integers("count", a.count, b.count);
  if (has(kernels::kSumComponent | kernels::kDotComponent)) {
    if (kernels::IsFloating(plan.type)) {
      reals("sum", a.sum, b.sum);
    } else {
      integers("integer_sum.low", a.integer_sum.low, b.integer_sum.low);
      if (!has(kernels::kDotComponent) || kernels::ElementSize(plan.type) < 8) {
        integers("integer_sum.high", a.integer_sum.high, b.integer_sum.high);
      }
    }
  }
  if (has(kernels::kExtremaComponent)) {
    integers("min_key", a.min_key, b.min_key);
    integers("max_key", a.max_key, b.max_key);
  }
  if (has(kernels::kArgComponent)) {
    integers("argmin", a.argmin, b.argmin);
    integers("argmax", a.argmax, b.argmax);
  }
  if (has(kernels::kSquaresComponent)) reals("sum_squares", a.sum_squares, b.sum_squares);
  if (has(kernels::kMomentsComponent)) {
    reals("shift", a.shift, b.shift);
    reals("s1", a.s1, b.s1);
    reals("m2", a.m2, b.m2);
  }
  if (has(kernels::kL1Component)) reals("l1", a.l1, b.l1);
  if (has(kernels::kNanCountComponent)) integers("nan_count", a.nan_count, b.nan_count);
  if (has(kernels::kNonzeroComponent)) integers("nonzero", a.nonzero_count, b.nonzero_count);
  const auto bytes = [&plan](const kernels::State& state) {
    return kernels::EncodePartial({plan, 0, state.count, {{{}, state}}});
  };
  if (bytes(a) != bytes(b)) out << "bytes of a partial; ";
  return out.str();
}

}  // namespace reduction::testing
