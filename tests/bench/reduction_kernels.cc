// reduction-kernels: the reduction kernels, the ladder that leads to them, CUB, Thrust and a kernel
// that only reads, each checked against an exact reference before it is timed.
//
// Each measurement reads a slice that was not read lately, so that it comes from memory and not
// from the cache; rows take turns, and medians are compared.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
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
    {"sizes", &SizeRows}, {"ladder", &LadderRows}, {"sets", &SetRows},
    {"types", &TypeRows}, {"stages", &StageRows},
};

// Whether every value was right.
bool Run(size_t bytes, bool json, const std::vector<std::string>& only) {
  Bench bench(bytes);
  Report report(json);
  report.Device(bench);
  for (const Group& group : kGroups) {
    if (only.empty() || std::find(only.begin(), only.end(), group.name) != only.end()) {
      group.run(bench, report);
    }
  }
  const uint64_t wrong = bench.checker().wrong();
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
      "Checks and times the reduction kernels on device 0. Exit status 0, 1 when a value is wrong "
      "or the device fails, 2 for wrong usage"};
  bool json = false;
  uint64_t mebibytes = 4096;
  std::vector<std::string> only;
  std::vector<std::string> names;
  for (const reduction::bench::Group& group : reduction::bench::kGroups) {
    names.push_back(group.name);
  }
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
