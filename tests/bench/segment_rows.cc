#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/segment_reduce.h"
#include "tests/bench/groups.h"

namespace reduction::bench {
namespace {

using kernels::cuda::Check;
using kernels::cuda::SegmentReducer;

constexpr uint64_t kSeed = 1;  // so that layouts are the same in every run

// Segments of the elements of a slice.
struct Segments {
  std::string lengths;
  std::vector<uint64_t> offsets = {0};
  uint64_t length = 0;  // of each; 0: by offsets

  uint64_t number() const { return offsets.size() - 1; }
  uint64_t count() const { return offsets.back(); }
};

// 1234567 as 1,234,567.
std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

Segments Equal(uint64_t number, uint64_t length) {
  Segments segments{.lengths = Grouped(length), .length = length};
  for (uint64_t i = 1; i <= number; ++i) segments.offsets.push_back(i * length);
  return segments;
}

// Lengths of density x^-1.5 from 1 to 10^7, by the inverse of their distribution function, until
// `count` elements are taken.
Segments PowerLaw(uint64_t count) {
  constexpr double kLongest = 1e7;
  Segments segments{.lengths = "power-law lengths, 1 to 10^7"};
  std::mt19937_64 random(kSeed);
  while (segments.count() < count) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    const double length = std::pow(1 - u * (1 - 1 / std::sqrt(kLongest)), -2);
    segments.offsets.push_back(std::min(count, segments.count() + static_cast<uint64_t>(length)));
  }
  return segments;
}

Segments UpTo50(uint64_t number) {
  Segments segments{.lengths = "0 to 50"};
  std::mt19937_64 random(kSeed);
  for (uint64_t i = 0; i < number; ++i) {
    segments.offsets.push_back(segments.count() + random() % 51);
  }
  return segments;
}

// The rows of a layout, whose results are checked when they are made.
class LayoutRows {
 public:
  LayoutRows(Bench& bench, const Segments& segments)
      : bench_(bench),
        reducer_(0, segments.number()),
        segments_(segments),
        layout_{.segments = segments.number(), .length = segments.length} {
    if (segments.length == 0) {
      const size_t bytes = segments.offsets.size() * sizeof(uint64_t);
      offsets_ = DeviceBuffer(bytes);
      kernels::cuda::CopyToDevice(offsets_.data(), segments.offsets.data(), bytes);
      layout_.offsets = reinterpret_cast<const uint64_t*>(offsets_.data());
    }
    references_ = ReferencesOf(ElementType::kFloat32, layout_, bench.stream());
  }

  Row Ours(std::string name, Components components) {
    const kernels::Plan plan{.type = ElementType::kFloat32, .components = components};
    Row row = RowOf(std::move(name));
    row.run = [this, plan](uint64_t first) {
      reducer_.Enqueue(plan, bench_.data().at(first), segments_.count(), layout_, bench_.stream());
    };
    row.run(0);
    bench_.stream().Synchronize();
    bench_.checker().ExpectStates(row.name + ", " + row.setting, plan, reducer_.Results(),
                                  segments_.offsets, references_);
    return row;
  }

  Row Cub() {
    Row row = RowOf("CUB segmented sum");
    row.yardstick = Yardstick::kCub;
    sums_ = DeviceBuffer(segments_.number() * sizeof(float));
    scratch_ = DeviceBuffer(CubSegmentScratchBytes(layout_));
    row.run = [this](uint64_t first) {
      EnqueueCubSegments(reinterpret_cast<const float*>(bench_.data().at(first)), layout_,
                         reinterpret_cast<float*>(sums_.data()), scratch_, bench_.stream());
    };
    row.run(0);
    std::vector<float> sums(segments_.number());
    Check(cudaMemcpyAsync(sums.data(), sums_.data(), sums.size() * sizeof(float),
                          cudaMemcpyDeviceToHost, bench_.stream().get()));
    bench_.stream().Synchronize();
    bench_.checker().ExpectSegmentSums(row.name + ", " + row.setting, row.type, sums,
                                       segments_.offsets, references_);
    return row;
  }

  // The same elements as one array.
  Row Flat() {
    Row row =
        bench_.Ours("flat sum", kernels::kSumComponent, Algorithm::kTwoPass, segments_.count());
    row.yardstick = Yardstick::kFlat;
    row.setting = Setting();
    return row;
  }

  // The same elements but for the last, which are no whole vector.
  Row ReadOnly() {
    Row row = bench_.ReadOnly(segments_.count() / 4 * 4);
    row.setting = Setting();
    return row;
  }

 private:
  std::string Setting() const {
    return Grouped(segments_.number()) + " segments of " + segments_.lengths;
  }
  Row RowOf(std::string name) const {
    return {.name = std::move(name),
            .type = ElementType::kFloat32,
            .count = segments_.count(),
            .bytes = static_cast<double>(segments_.count() * sizeof(float)),
            .setting = Setting()};
  }

  Bench& bench_;
  SegmentReducer reducer_;
  const Segments& segments_;
  SegmentLayout layout_;
  DeviceBuffer offsets_;
  DeviceBuffer sums_;     // of CUB
  DeviceBuffer scratch_;  // of CUB
  std::vector<Reference> references_;
};

void Measure(Bench& bench, Report& report, const Segments& segments, bool all_statistics) {
  if (segments.count() > bench.data().count()) return;
  LayoutRows layout(bench, segments);
  std::vector<Row> rows;
  rows.push_back(layout.Ours("segments, sum", kernels::kSumComponent));
  if (all_statistics) {
    rows.push_back(layout.Ours("segments, all statistics", kernels::kAllOneArrayComponents));
  }
  rows.push_back(layout.Flat());
  rows.push_back(layout.Cub());
  rows.push_back(layout.ReadOnly());
  bench.Time(&rows, TimingOf(ElementType::kFloat32, segments.count()));
  report.Add(rows);
}

}  // namespace

void SegmentRows(Bench& bench, Report& report) {
  report.Begin("segments",
               "float32 segments, in the layouts that the data have room for: cold slices, "
               "interleaved; \"flat sum\" is TWO_PASS of the same elements as one array, CUB is "
               "DeviceSegmentedReduce");
  bench.data().Become(ElementType::kFloat32);
  Measure(bench, report, Equal(65'536, 1'024), true);
  Measure(bench, report, Equal(1'048'576, 64), false);
  Measure(bench, report, Equal(16, uint64_t{64} << 20), false);
  Measure(bench, report, PowerLaw(uint64_t{1} << 28), false);
  Measure(bench, report, UpTo50(10'000'000), false);
}

}  // namespace reduction::bench
