// The groups of rows, each in a file of its own.
#pragma once

#include "tests/bench/bench.h"
#include "tests/bench/report.h"

namespace reduction::bench {

// Arrays of the ladder, of the series and of the handbook, as their authors chose them; a bench
// with less data takes all it has.
inline constexpr uint64_t kLadderElements = uint64_t{1} << 27;
inline constexpr uint64_t kSeriesElements = uint64_t{4} << 20;
inline constexpr uint64_t kHandbookElements = uint64_t{64} << 20;

// float32 sums of 2^10 to 2^30 elements.
void SizeRows(Bench& bench, Report& report);
// The teaching ladder, the five-kernel series and the handbook's three.
void LadderRows(Bench& bench, Report& report);
// Each statistic and set of statistics of float32, and dot, over all data.
void SetRows(Bench& bench, Report& report);
// Sums, sets and dot of every element type, over all data.
void TypeRows(Bench& bench, Report& report);
// What the stages of a reduction of host memory take.
void StageRows(Bench& bench, Report& report);

// Sums and all statistics of the segments of a float32 array, in several layouts.
void SegmentRows(Bench& bench, Report& report);
// Sums and all statistics of host memory on the CPU; needs no device. Returns how many values were
// wrong.
uint64_t CpuRows(Report& report);

}  // namespace reduction::bench
