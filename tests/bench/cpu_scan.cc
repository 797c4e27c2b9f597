#include "tests/bench/cpu_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/cpu_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace reduction::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Eight loads in flight that do not wait for one another, and the lines of the next page asked for
// ahead of the hardware prefetchers, which stop at a page's end.
uint32_t ScanWords(const uint32_t* words, size_t count) {
  constexpr size_t kAhead = 4096 / sizeof(uint32_t);
  constexpr size_t kLine = 64 / sizeof(uint32_t);
  const hn::ScalableTag<uint32_t> d;
  const size_t lanes = hn::Lanes(d);
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  for (size_t i = 0; i < count; i += 8 * lanes) {
    const uint32_t* const at = words + i;
    for (size_t k = 0; k < 8 * lanes; k += kLine) __builtin_prefetch(at + kAhead + k, 0, 2);
    a0 = hn::Xor(a0, hn::Load(d, at));
    a1 = hn::Xor(a1, hn::Load(d, at + lanes));
    a2 = hn::Xor(a2, hn::Load(d, at + 2 * lanes));
    a3 = hn::Xor(a3, hn::Load(d, at + 3 * lanes));
    a4 = hn::Xor(a4, hn::Load(d, at + 4 * lanes));
    a5 = hn::Xor(a5, hn::Load(d, at + 5 * lanes));
    a6 = hn::Xor(a6, hn::Load(d, at + 6 * lanes));
    a7 = hn::Xor(a7, hn::Load(d, at + 7 * lanes));
  }
  a0 =
      hn::Xor(hn::Xor(hn::Xor(a0, a1), hn::Xor(a2, a3)), hn::Xor(hn::Xor(a4, a5), hn::Xor(a6, a7)));
  HWY_ALIGN uint32_t last[HWY_MAX_BYTES / sizeof(uint32_t)];
  hn::Store(a0, d, last);
  uint32_t bits = 0;
  for (size_t lane = 0; lane < lanes; ++lane) bits ^= last[lane];
  return bits;
}

}  // namespace reduction::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reduction::bench {

HWY_EXPORT(ScanWords);
uint32_t ScanOnCpu(const uint32_t* words, size_t count) {
  return HWY_DYNAMIC_DISPATCH(ScanWords)(words, count);
}

}  // namespace reduction::bench
#endif
