// reduction-kernels: the reduction kernels, the ladder that leads to them, CUB, Thrust and a kernel
// that only reads, each checked against an exact reference before it is timed.
//
// Each measurement reads a slice that was not read lately, so that it comes from memory and not
// from the cache; rows take turns, and medians are compared.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "tests/bench/groups.h"

namespace reduction::bench {
namespace {

struct Group {
  const char* name;
  void (*run)(Bench& bench, Report& report);
};
constexpr Group kGroups[] = {
    {"sizes", &SizeRows}, {"ladder", &LadderRows},    {"sets", &SetRows},
    {"types", &TypeRows}, {"segments", &SegmentRows}, {"stages", &StageRows},
};
// The group that needs no device.
constexpr const char* kCpuGroup = "cpu";

// Whether there is a device 0; says why there is none.
bool HasDevice() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return true;
  std::fprintf(stderr, "reduction-kernels: no device (%s): only the group %s runs\n",
               error == cudaSuccess ? "none is visible" : cudaGetErrorString(error), kCpuGroup);
  return false;
}

// Runs the groups in `only`, or all that can run where it is empty. Whether every value was right.
bool Run(size_t bytes, bool json, const std::vector<std::string>& only) {
  const auto chosen = [&](const char* name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  const bool needs_device = std::any_of(std::begin(kGroups), std::end(kGroups),
                                        [&](const Group& group) { return chosen(group.name); });
  Report report(json);
  uint64_t wrong = 0;
  if (needs_device && (!only.empty() || HasDevice())) {
    Bench bench(bytes);
    report.Device(bench);
    for (const Group& group : kGroups) {
      if (chosen(group.name)) group.run(bench, report);
    }
    wrong += bench.checker().wrong();
  }
  if (chosen(kCpuGroup)) wrong += CpuRows(report);
  if (wrong != 0) {
    std::fprintf(stderr, "reduction-kernels: %llu wrong values\n",
                 static_cast<unsigned long long>(wrong));
  }
  return wrong == 0;
}

}  // namespace
}  // namespace reduction::bench

int main(int argc, char** argv) {
  CLI::App app{
      "Checks and times the reduction kernels on device 0, and the CPU backend, which is all that "
      "runs where there is no device. Exit status 0, 1 when a value is wrong or the device fails, "
      "2 for wrong usage"};
  bool json = false;
  uint64_t mebibytes = 4096;
  std::vector<std::string> only;
  std::vector<std::string> names;
  for (const reduction::bench::Group& group : reduction::bench::kGroups) {
    names.push_back(group.name);
  }
  names.push_back(reduction::bench::kCpuGroup);
  app.add_flag("--json", json, "one JSON object a row");
  app.add_option("--only", only, "groups to run, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--mebibytes", mebibytes, "size of the data")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return reduction::bench::Run(mebibytes << 20, json, only) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reduction-kernels: %s\n", error.what());
    return 1;
  }
}
