#include <chrono>
#include <optional>
#include <vector>

#include "kernels/cuda/pinned_buffer.h"
#include "tests/bench/groups.h"

namespace reduction::bench {
namespace {

using kernels::cuda::Check;
using kernels::cuda::PinnedBuffer;

using Clock = std::chrono::steady_clock;
double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// One reduction of an array in page-locked host memory, stage by stage.
class Stages {
 public:
  Stages(Bench& bench, uint64_t count) : bench_(bench), host_(count * sizeof(float)) {
    const double bytes = static_cast<double>(host_.size());
    const auto row = [&](const char* name, double moved) {
      return Row{.name = name, .type = ElementType::kFloat32, .count = count, .bytes = moved};
    };
    rows_ = {row("allocate", 0), row("copy in", bytes), row("kernel", bytes), row("copy out", 0)};
    rows_[1].reads_device_memory = false;
    Check(cudaMemcpy(host_.data(), bench.data().at(0), host_.size(), cudaMemcpyDeviceToHost));
  }

  const std::vector<Row>& rows() const { return rows_; }

  // Checks the result of the first run, which loads what has to be loaded and is not timed.
  void Run(bool first) {
    const kernels::Plan plan;
    const uint64_t count = rows_[0].count;
    const Clock::time_point allocating = Clock::now();
    const DeviceBuffer device(host_.size());
    const double allocate = MillisecondsSince(allocating);
    const double copy_in = bench_.Milliseconds(
        [&] {
          Check(cudaMemcpyAsync(device.data(), host_.data(), host_.size(), cudaMemcpyHostToDevice,
                                bench_.stream().get()));
        },
        !first);
    const double kernel = bench_.Milliseconds(
        [&] { bench_.reducer().Enqueue(plan, device.data(), nullptr, count, 0, bench_.stream()); },
        !first);
    const Clock::time_point copying_out = Clock::now();
    const kernels::State state = bench_.reducer().Result();
    const double copy_out = MillisecondsSince(copying_out);
    if (first) {
      bench_.checker().ExpectState("stages", plan, state, count, 0);
      return;
    }
    size_t stage = 0;
    for (const double milliseconds : {allocate, copy_in, kernel, copy_out}) {
      rows_[stage++].milliseconds.push_back(milliseconds);
    }
  }

 private:
  Bench& bench_;
  PinnedBuffer host_;
  std::vector<Row> rows_;
};

}  // namespace

void StageRows(Bench& bench, Report& report) {
  constexpr int kRuns = 11;
  report.Begin("stages",
               "stages of a float32 sum of pinned host memory: allocate and copy out by the host's "
               "clock, copy in and kernel between events; the server allocates at its start");
  bench.data().Become(ElementType::kFloat32);
  for (const uint64_t count : {kSeriesElements, uint64_t{1} << 28}) {
    if (count > bench.data().count()) break;
    Stages stages(bench, count);
    for (int i = 0; i <= kRuns; ++i) stages.Run(i == 0);
    report.Add(stages.rows());
  }
}

}  // namespace reduction::bench
