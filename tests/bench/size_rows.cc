#include <vector>

#include "tests/bench/groups.h"

namespace reduction::bench {

void SizeRows(Bench& bench, Report& report) {
  report.Begin("sizes",
               "float32 sum by size: cold slices, interleaved; batches of 16 below 2^20. Thrust "
               "synchronises: single launches, its allocation and the host's waiting included");
  bench.data().Become(ElementType::kFloat32);
  for (int power = 10; power <= 30; ++power) {
    const uint64_t count = uint64_t{1} << power;
    if (count > bench.data().count()) break;
    std::vector<Row> rows;
    rows.push_back(bench.Ours("TWO_PASS", kernels::kSumComponent, Algorithm::kTwoPass, count));
    rows.push_back(bench.Ours("ATOMIC", kernels::kSumComponent, Algorithm::kAtomic, count));
    rows.push_back(bench.Cub<float>(count));
    rows.push_back(bench.Thrust<float>(count));
    rows.push_back(bench.ReadOnly(count));
    bench.Time(&rows, TimingOf(ElementType::kFloat32, count));
    report.Add(rows);
  }
}

}  // namespace reduction::bench
