#include "tests/bench/bench.h"

#include <algorithm>
#include <utility>

#include "kernels/cuda/device_attributes.h"

namespace reduction::bench {
namespace {

using kernels::cuda::Check;

// Starts of slices of `span` elements, far apart; each call gives the next. There are so many that
// those of a few KiB do not stay in the cache until their next turn.
class Slices {
 public:
  Slices(uint64_t total, uint64_t span)
      : slots_(std::clamp<uint64_t>(total / span, 1, 32768)),
        spacing_(total / slots_ / 4096 * 4096) {}
  uint64_t Next() { return next_++ % slots_ * spacing_; }

 private:
  uint64_t slots_;
  uint64_t spacing_;
  uint64_t next_ = 0;
};

}  // namespace

Timing TimingOf(ElementType type, uint64_t count) {
  Timing timing{.span = count, .runs = 51};
  if (count < (uint64_t{1} << 20)) timing.batch = 16;
  const uint64_t bytes = count * kernels::ElementSize(type);
  if (bytes > (uint64_t{1} << 28)) timing.runs = 21;
  return timing;
}

Bench::Bench(size_t bytes)
    : multiprocessors_(
          static_cast<int>(kernels::cuda::Attribute(cudaDevAttrMultiProcessorCount, 0))),
      memory_peak_(kernels::cuda::MemoryPeak(0)),
      data_(bytes, stream_.view()),
      checker_(stream_.view(), multiprocessors_),
      reducer_(0),
      result_(sizeof(uint64_t)),
      checks_(ScanWarps(multiprocessors_) * sizeof(uint32_t)) {}

Row Bench::RowOf(std::string name, uint64_t count) const {
  const ElementType type = data_.type();
  return {.name = std::move(name),
          .type = type,
          .count = count,
          .bytes = static_cast<double>(count * kernels::ElementSize(type))};
}

template <class T>
T Bench::ReadBack(const DeviceBuffer& device) const {
  T value;
  Check(cudaMemcpyAsync(&value, device.data(), sizeof(T), cudaMemcpyDeviceToHost, stream().get()));
  stream().Synchronize();
  return value;
}

void Bench::Reserve(size_t bytes) {
  if (workspace_.size() < bytes) workspace_ = DeviceBuffer(bytes);
}

Row Bench::ReadOnly(uint64_t count) {
  Row row = RowOf("read only", count);
  row.yardstick = Yardstick::kReadOnly;
  const size_t bytes = count * kernels::ElementSize(row.type);
  row.run = [=, this](uint64_t first) {
    EnqueueScan(data_.at(first), bytes, multiprocessors_,
                reinterpret_cast<uint32_t*>(checks_.data()), stream());
  };
  Check(cudaMemsetAsync(checks_.data(), 0, checks_.size(), stream().get()));
  row.run(0);
  std::vector<uint32_t> checks(ScanWarps(multiprocessors_));
  Check(cudaMemcpyAsync(checks.data(), checks_.data(), checks.size() * sizeof(uint32_t),
                        cudaMemcpyDeviceToHost, stream().get()));
  stream().Synchronize();
  uint32_t checksum = 0;
  for (const uint32_t check : checks) checksum ^= check;
  checker_.ExpectChecksum(row.name, row.type, checksum, count);
  return row;
}

template <class T>
Row Bench::Cub(uint64_t count) {
  Row row = RowOf("CUB sum", count);
  row.yardstick = Yardstick::kCub;
  Reserve(LibrarySums<T>::CubScratchBytes(count));
  row.run = [=, this](uint64_t first) {
    LibrarySums<T>::EnqueueCub(reinterpret_cast<const T*>(data_.at(first)), count,
                               reinterpret_cast<T*>(result_.data()), workspace_, stream());
  };
  row.run(0);
  checker_.ExpectSum(row.name, row.type, ReadBack<T>(result_), count);
  return row;
}

template <class T>
Row Bench::Thrust(uint64_t count) {
  Row row = RowOf("Thrust, synchronises", count);
  row.synchronises = true;
  const auto sum = [=, this](uint64_t first) {
    return LibrarySums<T>::Thrust(reinterpret_cast<const T*>(data_.at(first)), count, stream());
  };
  row.run = sum;
  checker_.ExpectSum(row.name, row.type, sum(0), count);
  return row;
}

template <class T>
Row Bench::Step(const kernels::ladder::Row<T>& step, uint64_t count) {
  Row row = RowOf(step.name, count);
  Reserve(kernels::ladder::WorkspaceElements(count) * sizeof(T));
  row.run = [=, this, launch = step.launch](uint64_t first) {
    launch({reinterpret_cast<const T*>(data_.at(first)), count,
            reinterpret_cast<T*>(workspace_.data()), reinterpret_cast<T*>(result_.data()),
            stream()});
  };
  row.run(0);
  checker_.ExpectSum(row.name, row.type, ReadBack<T>(result_), count);
  return row;
}

template Row Bench::Cub<float>(uint64_t);
template Row Bench::Cub<double>(uint64_t);
template Row Bench::Cub<int32_t>(uint64_t);
template Row Bench::Cub<int64_t>(uint64_t);
template Row Bench::Thrust<float>(uint64_t);
template Row Bench::Thrust<int32_t>(uint64_t);
template Row Bench::Step(const kernels::ladder::Row<float>&, uint64_t);
template Row Bench::Step(const kernels::ladder::Row<int32_t>&, uint64_t);

Row Bench::Ours(std::string name, Components components, Algorithm algorithm, uint64_t count,
                uint64_t apart) {
  Row row = RowOf(std::move(name), count);
  if (components == kernels::kDotComponent) row.bytes *= 2;
  kernels::Plan plan;
  plan.type = row.type;
  plan.components = components;
  plan.algorithm = algorithm;
  row.run = [=, this](uint64_t first) {
    reducer_.Enqueue(plan, data_.at(first), data_.at(first + apart), count, 0, stream());
  };
  row.run(0);
  stream().Synchronize();
  checker_.ExpectState(row.name, plan, reducer_.Result(), count, apart);
  return row;
}

double Bench::Milliseconds(const std::function<void()>& enqueue, bool held_back) {
  if (held_back) gate_.Close(stream());
  begin_.view().Record(stream());
  enqueue();
  end_.view().Record(stream());
  if (held_back) gate_.Open();
  stream().Synchronize();
  return end_.view().MillisecondsSince(begin_.view());
}

void Bench::Time(std::vector<Row>* rows, const Timing& timing) {
  Slices slices(data_.count(), timing.cold ? timing.span : data_.count());
  const auto run_once = [&](Row& row, bool counts) {
    row.batch = row.synchronises ? 1 : timing.batch;
    const double milliseconds = Milliseconds(
        [&] {
          for (int k = 0; k < row.batch; ++k) row.run(slices.Next());
        },
        !row.synchronises);
    if (counts) row.milliseconds.push_back(milliseconds / row.batch);
  };
  // A kernel's first launch may have to load it, which a closed gate would keep from ending.
  for (Row& row : *rows) row.run(slices.Next());
  stream().Synchronize();
  if (timing.interleaved) {
    for (int i = -timing.warm_ups; i < timing.runs; ++i) {
      for (Row& row : *rows) run_once(row, i >= 0);
    }
  } else {
    for (Row& row : *rows) {
      for (int i = -timing.warm_ups; i < timing.runs; ++i) run_once(row, i >= 0);
    }
  }
}

}  // namespace reduction::bench
