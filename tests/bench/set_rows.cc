#include <algorithm>
#include <string>
#include <vector>

#include "tests/bench/groups.h"

namespace reduction::bench {
namespace {

using kernels::Statistic;

struct Set {
  std::string name;
  Components components;
  uint64_t skew = 0;  // elements by which a dot's second array lies off the first's alignment
};

// What both groups measure last. "seven": sum, sum of squares, min, max, argmin, argmax, NaN count.
void AddLargeSets(std::vector<Set>* sets) {
  constexpr Components kSeven = kernels::kSumComponent | kernels::kSquaresComponent |
                                kernels::kExtremaComponent | kernels::kArgComponent |
                                kernels::kNanCountComponent;
  sets->push_back({"seven", kSeven});
  sets->push_back({"all", kernels::kAllOneArrayComponents});
  sets->push_back({"dot", kernels::kDotComponent});
  sets->push_back({"dot, unequal alignment", kernels::kDotComponent, 1});
}

// Each statistic of one array alone; those that are computed from the same components share a row.
std::vector<Set> StatisticsAlone() {
  std::vector<Set> sets;
  for (const Statistic statistic : kernels::kAllStatistics) {
    if (statistic == Statistic::kDot) continue;
    const Components components = kernels::ComponentsOf(statistic);
    const std::string name(kernels::StatisticName(statistic));
    const auto same = std::find_if(sets.begin(), sets.end(),
                                   [&](const Set& set) { return set.components == components; });
    if (same == sets.end()) {
      sets.push_back({name, components});
    } else {
      same->name += ", " + name;
    }
  }
  return sets;
}

// Over all data: a dot takes one half with the other.
Row RowOf(Bench& bench, const Set& set) {
  const uint64_t total = bench.data().count();
  const bool dot = set.components == kernels::kDotComponent;
  const uint64_t apart = dot ? total / 2 + set.skew : 0;
  return bench.Ours(set.name, set.components, Algorithm::kTwoPass,
                    dot ? total / 2 - set.skew : total, apart);
}

// CUB's sum of the data where it can be exact (integers modulo 2^bits): not of small types.
void AddCub(Bench& bench, std::vector<Row>* rows) {
  const uint64_t count = bench.data().count();
  switch (bench.data().type()) {
    case ElementType::kFloat32:
      rows->push_back(bench.Cub<float>(count));
      break;
    case ElementType::kFloat64:
      rows->push_back(bench.Cub<double>(count));
      break;
    case ElementType::kInt32:
    case ElementType::kUint32:
      rows->push_back(bench.Cub<int32_t>(count));
      break;
    case ElementType::kInt64:
    case ElementType::kUint64:
      rows->push_back(bench.Cub<int64_t>(count));
      break;
    default:
      break;
  }
}

void Measure(Bench& bench, Report& report, const std::vector<Set>& sets) {
  std::vector<Row> rows;
  for (const Set& set : sets) rows.push_back(RowOf(bench, set));
  AddCub(bench, &rows);
  rows.push_back(bench.ReadOnly(bench.data().count()));
  Timing timing = TimingOf(bench.data().type(), bench.data().count());
  timing.runs = std::min(timing.runs, 15);
  bench.Time(&rows, timing);
  report.Add(rows);
}

}  // namespace

void SetRows(Bench& bench, Report& report) {
  report.Begin("sets",
               "statistics and sets of float32, TWO_PASS, all data: interleaved; \"seven\" is sum, "
               "sum of squares, min, max, argmin, argmax and NaN count");
  bench.data().Become(ElementType::kFloat32);
  std::vector<Set> sets = StatisticsAlone();
  sets.push_back({"sum + variance", kernels::kSumComponent | kernels::kMomentsComponent});
  AddLargeSets(&sets);
  Measure(bench, report, sets);
}

void TypeRows(Bench& bench, Report& report) {
  report.Begin("types",
               "every element type, TWO_PASS, all data: interleaved; CUB accumulates in "
               "the element type");
  std::vector<Set> sets = {{"sum", kernels::kSumComponent},
                           {"min, max", kernels::kExtremaComponent}};
  AddLargeSets(&sets);
  for (const ElementType type : kernels::kAllElementTypes) {
    bench.data().Become(type);
    Measure(bench, report, sets);
  }
}

}  // namespace reduction::bench
