#include "tests/bench/cpu_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/cpu_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace reduction::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Eight loads in flight that do not wait for one another. Asking for lines ahead of the hardware
// prefetchers was slower.
uint32_t ScanWords(const uint32_t* words, size_t count, size_t streams) {
  const hn::ScalableTag<uint32_t> d;
  const size_t lanes = hn::Lanes(d);
  // Where load k begins.
  const auto start = [&](size_t k) {
    return words + k % streams * (count / streams) + k / streams * lanes;
  };
  const uint32_t* const p0 = start(0);
  const uint32_t* const p1 = start(1);
  const uint32_t* const p2 = start(2);
  const uint32_t* const p3 = start(3);
  const uint32_t* const p4 = start(4);
  const uint32_t* const p5 = start(5);
  const uint32_t* const p6 = start(6);
  const uint32_t* const p7 = start(7);
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  for (size_t i = 0; i < count / streams; i += 8 / streams * lanes) {
    a0 = hn::Xor(a0, hn::Load(d, p0 + i));
    a1 = hn::Xor(a1, hn::Load(d, p1 + i));
    a2 = hn::Xor(a2, hn::Load(d, p2 + i));
    a3 = hn::Xor(a3, hn::Load(d, p3 + i));
    a4 = hn::Xor(a4, hn::Load(d, p4 + i));
    a5 = hn::Xor(a5, hn::Load(d, p5 + i));
    a6 = hn::Xor(a6, hn::Load(d, p6 + i));
    a7 = hn::Xor(a7, hn::Load(d, p7 + i));
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
uint32_t ScanOnCpu(const uint32_t* words, size_t count, size_t streams) {
  return HWY_DYNAMIC_DISPATCH(ScanWords)(words, count, streams);
}

}  // namespace reduction::bench
#endif
