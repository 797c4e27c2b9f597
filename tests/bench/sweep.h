// Which launch shapes and loops are fastest: what kernels/cuda/tuning.h is filled from.
#pragma once

#include "tests/bench/bench.h"

namespace reduction::bench {

// Float32 sums of 2^10 elements up to the whole data, TWO_PASS and ATOMIC. Prints the best.
void SweepSizes(Bench& bench);

// Every type and set that has variants, over the whole data. Prints the best of each loop.
void SweepSets(Bench& bench);

}  // namespace reduction::bench
