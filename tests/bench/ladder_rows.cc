#include <algorithm>
#include <vector>

#include "kernels/ladder/ladder.h"
#include "tests/bench/groups.h"

namespace reduction::bench {
namespace {

// The steps, then what they are measured against.
template <class T, size_t kSteps>
std::vector<Row> Rows(Bench& bench, const kernels::ladder::Row<T> (&steps)[kSteps],
                      uint64_t count) {
  std::vector<Row> rows;
  for (const kernels::ladder::Row<T>& step : steps) rows.push_back(bench.Step(step, count));
  rows.push_back(bench.Ours("TWO_PASS", kernels::kSumComponent, Algorithm::kTwoPass, count));
  rows.push_back(bench.Ours("ATOMIC", kernels::kSumComponent, Algorithm::kAtomic, count));
  rows.push_back(bench.Cub<T>(count));
  rows.push_back(bench.Thrust<T>(count));
  rows.push_back(bench.ReadOnly(count));
  return rows;
}

}  // namespace

void LadderRows(Bench& bench, Report& report) {
  namespace ladder = kernels::ladder;
  bench.data().Become(ElementType::kFloat32);

  report.Begin("ladder", "the ladder, float32: cold slices, interleaved");
  const uint64_t ladder_count = std::min(kLadderElements, bench.data().count());
  std::vector<Row> rows = Rows(bench, ladder::kLadder, ladder_count);
  bench.Time(&rows, TimingOf(ElementType::kFloat32, ladder_count));
  report.Add(rows);

  report.Begin("series",
               "the five-kernel series, float32, as its authors measure: one row after the other, "
               "10 warm-ups, 50 runs of one array, which the cache may hold");
  const uint64_t series_count = std::min(kSeriesElements, bench.data().count());
  rows = Rows(bench, ladder::kSeries, series_count);
  bench.Time(
      &rows,
      {.span = series_count, .runs = 50, .warm_ups = 10, .cold = false, .interleaved = false});
  report.Add(rows);

  report.Begin("handbook", "the handbook's three, int32: cold slices, interleaved");
  bench.data().Become(ElementType::kInt32);
  const uint64_t handbook_count = std::min(kHandbookElements, bench.data().count());
  rows = Rows(bench, ladder::kHandbook, handbook_count);
  bench.Time(&rows, TimingOf(ElementType::kInt32, handbook_count));
  report.Add(rows);
}

}  // namespace reduction::bench
