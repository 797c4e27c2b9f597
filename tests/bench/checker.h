// Compares results with exact references before anything is timed, and counts what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "kernels/fixed_order.h"
#include "tests/bench/data.h"

namespace reduction::bench {

// Every mismatch is a line on standard error.
class Checker {
 public:
  Checker(CudaStreamView stream, int multiprocessors)
      : stream_(stream), multiprocessors_(multiprocessors) {}

  uint64_t wrong() const { return wrong_; }

  // Every statistic that the plan's components give, of `count` elements; those of a dot's second
  // array start `apart` elements after the first array's.
  void ExpectState(const std::string& name, const kernels::Plan& plan, const kernels::State& state,
                   uint64_t count, uint64_t apart);

  // A sum accumulated in T of `count` elements. Integers and float64 are exact (integers modulo
  // 2^bits); float32 sums must lie within ladder::ErrorBound() times the sum of magnitudes, which
  // holds for every kernel that spreads its additions over a full device.
  template <class T>
  void ExpectSum(const std::string& name, ElementType type, T got, uint64_t count);

  // The exclusive or of the 32-bit words of `count` elements.
  void ExpectChecksum(const std::string& name, ElementType type, uint32_t got, uint64_t count);

 private:
  void Expect(const std::string& name, std::string_view what, double got, double want,
              double tolerance);
  const Reference& Of(ElementType type, uint64_t apart, uint64_t count);

  CudaStreamView stream_;
  int multiprocessors_;
  uint64_t wrong_ = 0;
  Reference reference_;  // of the key, the last that was asked for
  std::tuple<ElementType, uint64_t, uint64_t> key_{};
};

}  // namespace reduction::bench
