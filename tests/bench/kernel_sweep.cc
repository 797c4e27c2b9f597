// The sweep that kernels/cuda/tuning.h is filled from: its own program, since it compiles every
// candidate of the loop over rows.
#include <cstdio>
#include <exception>

#include "tests/bench/sweep.h"

int main() {
  try {
    reduction::bench::Bench bench(uint64_t{4} << 30);
    reduction::bench::SweepSizes(bench);
    reduction::bench::SweepSets(bench);
    return bench.wrong() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reduction-kernel-sweep: %s\n", error.what());
    return 1;
  }
}
