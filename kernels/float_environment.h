// The floating-point environment in which the numeric contract holds.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace reduction::kernels {

// While it lives, the calling thread rounds to nearest, keeps subnormals and traps nothing; then
// the caller's environment returns, exception flags included. Guard a call that is not inlined,
// since compilers move arithmetic across changes of the environment.
class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  // All floating-point arithmetic of x86-64 obeys MXCSR; the x87 unit is not used.
  DefaultFloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~DefaultFloatEnvironment() { _mm_setcsr(saved_); }
#else
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
#endif
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kDefault = 0x1f80;  // every exception masked, no flag, no FTZ, no DAZ
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace reduction::kernels
