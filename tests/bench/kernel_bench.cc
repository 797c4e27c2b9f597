// Kernels against CUB and against a kernel that only reads, in one interleaved run.
//
// Every row's result is checked against an exact reference before it is timed. Each measurement
// reads a slice that has not been read lately, so that it comes from memory and not from the
// cache; rows take turns, and medians are compared.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/cuda_event.h"
#include "kernels/cuda/device_reduce.h"
#include "kernels/result.h"
#include "tests/bench/device_rows.h"

namespace reduction::bench {
namespace {

using kernels::Algorithm;
using kernels::Components;
using kernels::ElementType;
using kernels::Plan;
using kernels::State;
using kernels::cuda::Check;
using kernels::cuda::CudaEvent;
using kernels::cuda::CudaStream;
using kernels::cuda::DeviceBuffer;
using kernels::cuda::DeviceReducer;
using kernels::cuda::LaunchShape;

// The buffer, and what its elements are now.
class Data {
 public:
  Data(size_t bytes, const CudaStream& stream) : buffer_(bytes), stream_(stream.view()) {}

  void Become(ElementType type) {
    if (type_ == type) return;
    type_ = type;
    FillData(type, buffer_.data(), count(), 0, stream_);
    stream_.Synchronize();
  }
  ElementType type() const { return type_; }
  uint64_t count() const { return buffer_.size() / kernels::ElementSize(type_); }
  const std::byte* at(uint64_t element) const {
    return buffer_.data() + element * kernels::ElementSize(type_);
  }

 private:
  DeviceBuffer buffer_;
  CudaStreamView stream_;
  ElementType type_ = ElementType::kUint8;
};

// Starts of slices of `count` elements, far apart; each call gives the next.
class Slices {
 public:
  Slices(uint64_t total, uint64_t count)
      : slots_(std::clamp<uint64_t>(total / count, 1, 4096)),
        spacing_(total / slots_ / 4096 * 4096) {}
  uint64_t Next() { return next_++ % slots_ * spacing_; }

 private:
  uint64_t slots_;
  uint64_t spacing_;
  uint64_t next_ = 0;
};

struct Row {
  std::string name;
  std::function<void(uint64_t first)> enqueue;  // of the slice that starts at element `first`
  double bytes;
  std::vector<double> milliseconds = {};

  double Median() {
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() / 2];
  }
};

class Bench {
 public:
  explicit Bench(size_t bytes) : data_(bytes, stream_), reducer_(0) {
    Check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0));
    EnqueueCubSum(nullptr, data_.count(), nullptr, nullptr, &scratch_bytes_, stream_.view());
    scratch_ = DeviceBuffer(scratch_bytes_);
    cub_result_ = DeviceBuffer(sizeof(float));
  }

  Data& data() { return data_; }
  uint64_t wrong() const { return wrong_; }

  Row Cub(uint64_t count) {
    return {"CUB sum",
            [=, this](uint64_t first) {
              EnqueueCubSum(reinterpret_cast<const float*>(data_.at(first)), count,
                            reinterpret_cast<float*>(cub_result_.data()), scratch_.data(),
                            &scratch_bytes_, stream_.view());
            },
            static_cast<double>(count * sizeof(float))};
  }
  Row Ceiling(uint64_t count) {
    const size_t bytes = count * kernels::ElementSize(data_.type());
    return {"read only",
            [=, this](uint64_t first) {
              EnqueueScan(data_.at(first), bytes, multiprocessors_, stream_.view());
            },
            static_cast<double>(bytes)};
  }
  // A dot's second array starts `apart` elements after the first. Checks the row's result.
  Row Ours(std::string name, Components components, Algorithm algorithm, uint64_t count,
           uint64_t apart = 0, const LaunchShape* shape = nullptr) {
    Plan plan;
    plan.type = data_.type();
    plan.components = components;
    plan.algorithm = algorithm;
    const double arrays = components == kernels::kDotComponent ? 2 : 1;
    Row row{std::move(name),
            [=, this](uint64_t first) {
              reducer_.Enqueue(plan, data_.at(first), data_.at(first + apart), count, 0,
                               stream_.view(), shape);
            },
            arrays * static_cast<double>(count * kernels::ElementSize(data_.type()))};
    Verify(row.name, plan, row, count, apart);
    return row;
  }

  // Rows take turns over cold slices.
  void Time(std::vector<Row*> rows, uint64_t span, int repetitions) {
    constexpr int kWarmUps = 3;
    Slices slices(data_.count(), span);
    for (int i = -kWarmUps; i < repetitions; ++i) {
      for (Row* row : rows) {
        begin_.view().Record(stream_.view());
        row->enqueue(slices.Next());
        end_.view().Record(stream_.view());
        stream_.view().Synchronize();
        if (i >= 0) row->milliseconds.push_back(end_.view().MillisecondsSince(begin_.view()));
      }
    }
  }

 private:
  void Verify(const std::string& name, const Plan& plan, const Row& row, uint64_t count,
              uint64_t apart) {
    row.enqueue(0);
    stream_.view().Synchronize();
    const State state = reducer_.Result();
    const auto key = std::tuple(plan.type, apart, count);
    if (key != reference_key_) reference_ = ReferenceOf(plan.type, 0, apart, count, stream_.view());
    reference_key_ = key;
    const Reference& reference = reference_;
    const double unit = ScaleOf(plan.type).unit;
    const auto expect = [&](const char* what, double got, double want, double tolerance) {
      if (std::abs(got - want) <= tolerance) return;
      ++wrong_;
      std::fprintf(stderr, "WRONG %s, %s: %.17g instead of %.17g\n", name.c_str(), what, got, want);
    };
    const auto value = [&](kernels::Statistic statistic) {
      const kernels::Value v = kernels::Finalize(statistic, plan.type, state, count, {}).value;
      return std::visit(
          [](auto x) {
            if constexpr (std::is_same_v<decltype(x), std::monostate>) {
              return std::nan("");
            } else {
              return static_cast<double>(x);
            }
          },
          v);
    };
    const auto has = [&](Components c) { return (plan.components & c) != 0; };
    const double sum = static_cast<double>(reference.sum) * unit;
    const double products = reference.products() * unit * unit;
    const double magnitude = static_cast<double>(count) * unit * unit *
                             std::pow(static_cast<double>(ScaleOf(plan.type).range), 2);
    if (has(kernels::kSumComponent)) expect("sum", value(kernels::Statistic::kSum), sum, 0);
    if (has(kernels::kDotComponent)) {
      expect("dot", value(kernels::Statistic::kDot), products, 1e-15 * magnitude);
    }
    if (has(kernels::kExtremaComponent)) {
      expect("min", value(kernels::Statistic::kMin), reference.min * unit, 0);
      expect("max", value(kernels::Statistic::kMax), reference.max * unit, 0);
    }
    if (has(kernels::kSquaresComponent)) {
      expect("squares", value(kernels::Statistic::kSumOfSquares), products, 1e-15 * magnitude);
    }
    if (has(kernels::kMomentsComponent)) {
      const double n = static_cast<double>(count);
      expect("variance", value(kernels::Statistic::kVariance), products / n - sum / n * (sum / n),
             1e-12 * magnitude / n);
    }
    if (has(kernels::kNanCountComponent)) expect("NaNs", state.nan_count, 0, 0);
  }

  CudaStream stream_;
  Data data_;
  DeviceReducer reducer_;
  DeviceBuffer scratch_;
  DeviceBuffer cub_result_;
  size_t scratch_bytes_ = 0;
  int multiprocessors_ = 0;
  CudaEvent begin_;
  CudaEvent end_;
  uint64_t wrong_ = 0;
  Reference reference_;  // of the last row checked
  std::tuple<ElementType, uint64_t, uint64_t> reference_key_{};
};

class Table {
 public:
  explicit Table(bool json) : json_(json) {
    if (!json_) {
      std::printf("%-34s %-9s %13s %10s %8s %8s %8s\n", "row", "type", "elements", "ms", "GB/s",
                  "x CUB", "x read");
    }
  }
  // Speeds against CUB and the read-only kernel in the same run; NaN where there is none.
  void Add(Row& row, ElementType type, uint64_t count, double cub, double read) {
    const double ms = row.Median();
    const double speed = row.bytes / ms / 1e6;
    if (json_) {
      nlohmann::json line = {{"row", row.name},
                             {"type", kernels::ElementTypeName(type)},
                             {"elements", count},
                             {"milliseconds", ms},
                             {"gigabytes_per_second", speed}};
      if (!std::isnan(cub)) line["ratio_to_cub"] = speed / cub;
      if (!std::isnan(read)) line["ratio_to_read_only"] = speed / read;
      std::printf("%s\n", line.dump().c_str());
    } else {
      std::printf("%-34s %-9s %13llu %10.4f %8.0f %8.3f %8.3f\n", row.name.c_str(),
                  std::string(kernels::ElementTypeName(type)).c_str(),
                  static_cast<unsigned long long>(count), ms, speed, speed / cub, speed / read);
    }
    std::fflush(stdout);
  }

 private:
  bool json_;
};

int Repetitions(uint64_t bytes) { return bytes > (uint64_t{1} << 28) ? 21 : 101; }

void SizeRows(Bench& bench, Table& table) {
  bench.data().Become(ElementType::kFloat32);
  for (int power = 10; power <= 30; ++power) {
    const uint64_t count = uint64_t{1} << power;
    if (count > bench.data().count()) break;
    Row cub = bench.Cub(count);
    Row read = bench.Ceiling(count);
    Row two_pass = bench.Ours("sum TWO_PASS", kernels::kSumComponent, Algorithm::kTwoPass, count);
    Row atomic = bench.Ours("sum ATOMIC", kernels::kSumComponent, Algorithm::kAtomic, count);
    bench.Time({&cub, &read, &two_pass, &atomic}, count, Repetitions(count * 4));
    const double cub_speed = cub.bytes / cub.Median() / 1e6;
    const double read_speed = read.bytes / read.Median() / 1e6;
    for (Row* row : {&cub, &read, &two_pass, &atomic}) {
      table.Add(*row, ElementType::kFloat32, count, cub_speed, read_speed);
    }
  }
}

struct TypeRow {
  const char* name;
  Components components;
  uint64_t skew = 0;  // elements by which a dot's second array lies off the first's alignment
};

void TypeRows(Bench& bench, Table& table) {
  using kernels::cuda::kSevenSet;
  const TypeRow rows[] = {
      {"sum", kernels::kSumComponent},
      {"min, max", kernels::kExtremaComponent},
      {"sum, variance", kernels::kSumComponent | kernels::kMomentsComponent},
      {"seven", kSevenSet},
      {"all", kernels::kAllOneArrayComponents},
      {"dot", kernels::kDotComponent},
      {"dot, unequal alignment", kernels::kDotComponent, 1},
  };
  for (const ElementType type : kernels::kAllElementTypes) {
    bench.data().Become(type);
    const uint64_t total = bench.data().count();
    Row read = bench.Ceiling(total);
    std::vector<Row> ours;
    for (const TypeRow& row : rows) {
      const bool dot = row.components == kernels::kDotComponent;
      const uint64_t apart = dot ? total / 2 + row.skew : 0;
      ours.push_back(bench.Ours(row.name, row.components, Algorithm::kTwoPass,
                                dot ? total / 2 - row.skew : total, apart));
    }
    std::vector<Row*> all = {&read};
    for (Row& row : ours) all.push_back(&row);
    bench.Time(all, total, 11);
    const double read_speed = read.bytes / read.Median() / 1e6;
    for (Row* row : all) table.Add(*row, type, total, std::nan(""), read_speed);
  }
}

// The best launch shapes of the float32 sum, by size.
void Sweep(Bench& bench, bool atomic) {
  bench.data().Become(ElementType::kFloat32);
  for (int power = 10; power <= 30; ++power) {
    const uint64_t count = uint64_t{1} << power;
    if (count > bench.data().count()) break;
    const uint64_t leaves = kernels::LeafCount(count * sizeof(float));
    std::vector<LaunchShape> shapes;
    for (const uint32_t warps : {1u, 2u, 4u, 8u}) {
      for (uint32_t level = 0; level <= 7 && (leaves >> level) != 0; ++level) {
        for (const uint32_t blocks : {0u, 2u, 3u, 4u, 8u}) {
          for (const bool ticket : {false, true}) {
            if (atomic && (ticket || blocks == 0)) continue;
            LaunchShape shape{warps, level, blocks, ticket};
            const LaunchShape possible = kernels::cuda::ClampShape(shape, leaves, 1u << 16);
            if (possible.run_level == level && possible.ticket == ticket) shapes.push_back(shape);
          }
        }
      }
    }
    Row cub = bench.Cub(count);
    std::vector<Row> rows;
    rows.reserve(shapes.size());
    std::vector<Row*> all = {&cub};
    for (const LaunchShape& shape : shapes) {
      rows.push_back(bench.Ours("warps " + std::to_string(shape.block_warps) + " level " +
                                    std::to_string(shape.run_level) + " blocks " +
                                    std::to_string(shape.blocks_per_multiprocessor) +
                                    (shape.ticket ? " ticket" : " fold"),
                                kernels::kSumComponent,
                                atomic ? Algorithm::kAtomic : Algorithm::kTwoPass, count, 0,
                                &shape));
    }
    for (Row& row : rows) all.push_back(&row);
    bench.Time(all, count, power >= 28 ? 5 : power >= 24 ? 9 : 15);
    std::sort(rows.begin(), rows.end(), [](Row& a, Row& b) { return a.Median() < b.Median(); });
    std::printf("2^%d %s, CUB %.4f ms\n", power, atomic ? "ATOMIC" : "TWO_PASS", cub.Median());
    for (size_t i = 0; i < std::min<size_t>(4, rows.size()); ++i) {
      std::printf("  %.4f ms, %.3f x CUB's time, %.0f GB/s: %s\n", rows[i].Median(),
                  rows[i].Median() / cub.Median(), rows[i].bytes / rows[i].Median() / 1e6,
                  rows[i].name.c_str());
    }
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace reduction::bench

int main(int argc, char** argv) {
  CLI::App app{"Times the reduction kernels on device 0"};
  bool json = false;
  bool sweep = false;
  bool sizes = false;
  uint64_t mebibytes = 4096;
  app.add_flag("--json", json, "one JSON object a row");
  app.add_flag("--sizes", sizes, "float32 sums of every size only");
  app.add_flag("--sweep", sweep, "instead: the best launch shapes of float32 sums by size");
  app.add_option("--mebibytes", mebibytes, "size of the data")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    reduction::bench::Bench bench(mebibytes << 20);
    if (sweep) {
      reduction::bench::Sweep(bench, false);
      reduction::bench::Sweep(bench, true);
    } else {
      reduction::bench::Table table(json);
      reduction::bench::SizeRows(bench, table);
      if (!sizes) reduction::bench::TypeRows(bench, table);
    }
    return bench.wrong() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reduction-kernel-bench: %s\n", error.what());
    return 1;
  }
}
