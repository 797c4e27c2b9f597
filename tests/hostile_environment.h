// A floating-point environment that changes bits, and numbers that show it.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cfenv>
#include <cstddef>
#include <random>
#include <vector>

namespace reduction::testing {

// Rounds upward and, on x86-64, flushes subnormals to zero, while it lives.
class HostileEnvironment {
 public:
  HostileEnvironment() {
    std::fegetenv(&saved_);
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | kFlushSubnormals);
#endif
  }
  ~HostileEnvironment() { std::fesetenv(&saved_); }

  bool StillThere() const {
#if defined(__x86_64__)
    if ((_mm_getcsr() & kFlushSubnormals) != kFlushSubnormals) return false;
#endif
    return std::fegetround() == FE_UPWARD && std::fetestexcept(FE_ALL_EXCEPT) == 0;
  }

 private:
  static constexpr unsigned kFlushSubnormals = 0x8040;  // FTZ and DAZ
  std::fenv_t saved_;
};

// Subnormals, thirds and large numbers: every rounding and every flush shows.
inline std::vector<double> Sensitive() {
  std::mt19937_64 random(3);
  std::vector<double> x(5000);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 3 == 0 ? 5e-324 * static_cast<double>(random() % 1000)
                      : static_cast<double>(random() % 1000) / 3;
  }
  return x;
}

}  // namespace reduction::testing
