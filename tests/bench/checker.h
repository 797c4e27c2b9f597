// Compares results with exact references before anything is timed, and counts what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/fixed_order.h"
#include "tests/bench/data.h"

namespace reduction::bench {

// Every mismatch is a line on standard error. Without a device only those expectations can be
// tested that come with what they are compared with.
class Checker {
 public:
  Checker(CudaStreamView stream, int multiprocessors)
      : stream_(stream), multiprocessors_(multiprocessors) {}

  uint64_t wrong() const { return wrong_; }

  // Every statistic that the plan's components give, of `count` elements; those of a dot's second
  // array start `apart` elements after the first array's.
  void ExpectState(const std::string& name, const kernels::Plan& plan, const kernels::State& state,
                   uint64_t count, uint64_t apart);

  // The same of elements that are known by their reference.
  void ExpectState(const std::string& name, const kernels::Plan& plan, const kernels::State& state,
                   uint64_t count, const Reference& reference);

  // The same of each segment, and its count. Segments lie between neighbours of `offsets`. Ends
  // after the first segments that are wrong.
  void ExpectStates(const std::string& name, const kernels::Plan& plan,
                    const std::vector<kernels::State>& states, const std::vector<uint64_t>& offsets,
                    const std::vector<Reference>& references);

  // float32 sums of segments, accumulated in float32: within the bound of ladder::ErrorBound(), but
  // for a block of 256 threads a segment, or a warp for short ones.
  void ExpectSegmentSums(const std::string& name, ElementType type, const std::vector<float>& sums,
                         const std::vector<uint64_t>& offsets,
                         const std::vector<Reference>& references);

  // A sum accumulated in T of `count` elements. Integers and float64 are exact (integers modulo
  // 2^bits); float32 sums must lie within ladder::ErrorBound() times the sum of magnitudes, which
  // holds for every kernel that spreads its additions over a full device.
  template <class T>
  void ExpectSum(const std::string& name, ElementType type, T got, uint64_t count);

  // The exclusive or of the 32-bit words of `count` elements.
  void ExpectChecksum(const std::string& name, ElementType type, uint32_t got, uint64_t count);
  // The same where what it must be is known.
  void ExpectChecksum(const std::string& name, uint32_t got, uint32_t want);

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
