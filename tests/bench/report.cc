#include "tests/bench/report.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace reduction::bench {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

double SpeedOf(Yardstick yardstick, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.yardstick == yardstick) return row.GigabytesPerSecond();
  }
  return kNothing;
}

// Numbers of a row that some rows do not have: NaN there.
struct Ratios {
  double speed;  // GB/s
  double of_peak;
  double to_cub;
  double to_read_only;
  double to_flat;
};

// "-" for NaN.
std::string Text(double value, const char* format) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

void PrintJson(const std::string& group, const Row& row, const Ratios& ratios) {
  nlohmann::ordered_json line = {{"group", group},
                                 {"row", row.name},
                                 {"type", kernels::ElementTypeName(row.type)},
                                 {"elements", row.count},
                                 {"milliseconds", row.Median()},
                                 {"spread", row.Spread()},
                                 {"runs", row.milliseconds.size()},
                                 {"batch", row.batch}};
  if (!row.setting.empty()) line["setting"] = row.setting;
  for (const auto& [key, value] :
       {std::pair("gigabytes_per_second", ratios.speed), std::pair("share_of_peak", ratios.of_peak),
        std::pair("ratio_to_cub", ratios.to_cub),
        std::pair("ratio_to_read_only", ratios.to_read_only),
        std::pair("ratio_to_flat", ratios.to_flat)}) {
    if (!std::isnan(value)) line[key] = value;
  }
  std::printf("%s\n", line.dump().c_str());
}

void PrintLine(const Row& row, const Ratios& ratios) {
  std::printf("%-32s %-9s %12llu %10.4f %7s %8s %8s %8s %8s %8s\n", row.name.c_str(),
              std::string(kernels::ElementTypeName(row.type)).c_str(),
              static_cast<unsigned long long>(row.count), row.Median(),
              Text(100 * row.Spread(), "%.1f%%").c_str(),
              Text(ratios.speed, ratios.speed < 10 ? "%.2f" : "%.0f").c_str(),
              Text(100 * ratios.of_peak, "%.1f%%").c_str(), Text(ratios.to_cub, "%.3f").c_str(),
              Text(ratios.to_read_only, "%.3f").c_str(), Text(ratios.to_flat, "%.3f").c_str());
}

}  // namespace

void Report::Device(const Bench& bench) {
  cudaDeviceProp properties = {};
  kernels::cuda::Check(cudaGetDeviceProperties(&properties, 0));
  peak_ = bench.memory_peak() / 1e9;
  if (json_) {
    const nlohmann::ordered_json line = {{"group", "device"},
                                         {"row", properties.name},
                                         {"multiprocessors", bench.multiprocessors()},
                                         {"peak_gigabytes_per_second", peak_}};
    std::printf("%s\n", line.dump().c_str());
  } else {
    std::printf("%s: %d multiprocessors, memory %.0f GB/s\n", properties.name,
                bench.multiprocessors(), peak_);
  }
}

void Report::Begin(std::string group, const std::string& title) {
  group_ = std::move(group);
  if (json_) return;
  std::printf("\n%s\n%-32s %-9s %12s %10s %7s %8s %8s %8s %8s %8s\n", title.c_str(), "row", "type",
              "elements", "ms", "spread", "GB/s", "of peak", "x CUB", "x read", "x flat");
}

void Report::Add(const std::vector<Row>& rows) {
  const double cub = SpeedOf(Yardstick::kCub, rows);
  const double read_only = SpeedOf(Yardstick::kReadOnly, rows);
  const double flat = SpeedOf(Yardstick::kFlat, rows);
  const std::string& setting = rows.front().setting;
  if (!json_ && !setting.empty()) std::printf("-- %s\n", setting.c_str());
  for (const Row& row : rows) {
    const double speed = row.bytes > 0 ? row.GigabytesPerSecond() : kNothing;
    const Ratios ratios = {speed, row.reads_device_memory ? speed / peak_ : kNothing, speed / cub,
                           speed / read_only, speed / flat};
    if (json_) {
      PrintJson(group_, row, ratios);
    } else {
      PrintLine(row, ratios);
    }
  }
  std::fflush(stdout);
}

}  // namespace reduction::bench
