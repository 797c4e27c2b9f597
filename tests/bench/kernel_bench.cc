// Kernels against CUB and against a kernel that only reads, in one interleaved run.
//
// The results of our rows are checked against an exact reference before they are timed; those of
// CUB and of the kernel that only reads are not. Each measurement reads a slice that has not been
// read lately, so that it comes from memory and not from the cache; rows take turns, and medians
// are compared.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/bench/bench.h"

namespace reduction::bench {
namespace {

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

int Repetitions(uint64_t bytes) { return bytes > (uint64_t{1} << 28) ? 21 : 51; }

void SizeRows(Bench& bench, Table& table) {
  bench.data().Become(ElementType::kFloat32);
  for (int power = 10; power <= 30; ++power) {
    const uint64_t count = uint64_t{1} << power;
    if (count > bench.data().count()) break;
    Row cub = bench.Cub(count);
    Row read = bench.Ceiling(count);
    Row two_pass = bench.Ours("sum TWO_PASS", kernels::kSumComponent, Algorithm::kTwoPass, count);
    Row atomic = bench.Ours("sum ATOMIC", kernels::kSumComponent, Algorithm::kAtomic, count);
    bench.Time({&cub, &read, &two_pass, &atomic}, count, Repetitions(count * 4), BatchOf(count));
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
    bench.Time(all, total, 11, 1);
    const double read_speed = read.bytes / read.Median() / 1e6;
    for (Row* row : all) table.Add(*row, type, total, std::nan(""), read_speed);
  }
}

}  // namespace
}  // namespace reduction::bench

int main(int argc, char** argv) {
  CLI::App app{"Times the reduction kernels on device 0"};
  bool json = false;
  bool sizes = false;
  uint64_t mebibytes = 4096;
  app.add_flag("--json", json, "one JSON object a row");
  app.add_flag("--sizes", sizes, "float32 sums of every size only");
  app.add_option("--mebibytes", mebibytes, "size of the data")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    reduction::bench::Bench bench(mebibytes << 20);
    reduction::bench::Table table(json);
    reduction::bench::SizeRows(bench, table);
    if (!sizes) reduction::bench::TypeRows(bench, table);
    return bench.wrong() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reduction-kernel-bench: %s\n", error.what());
    return 1;
  }
}
