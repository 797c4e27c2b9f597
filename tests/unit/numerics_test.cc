// Every row of tests/data/numerics.tsv, on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_reduce.h"
#include "tests/numerics_cases.h"
#include "tests/test_environment.h"

namespace reduction::testing {
namespace {

// Rows that say how a server answers; the tests of the service cover them.
const std::set<std::string> kServiceRows = {"one-byte-short"};
// Rows of many GiB of virtual memory, too slow under sanitizers.
const std::set<std::string> kHugeRows = {"ones-int", "last-big", "ones-f64"};

std::vector<std::string> RowIds() {
  std::ifstream file(REDUCTION_TEST_DATA "/numerics.tsv");
  std::vector<std::string> ids;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') ids.push_back(line.substr(0, line.find('\t')));
  }
  return ids;
}

std::vector<std::string> KernelRowIds() {
  std::vector<std::string> ids = RowIds();
  std::erase_if(ids, [](const std::string& id) { return kServiceRows.contains(id); });
  return ids;
}

class NumericsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(NumericsTest, HoldsOnOneThreadAndOnMany) {
  if (kSanitized && kHugeRows.contains(GetParam())) GTEST_SKIP() << "too large for sanitizers";
  const auto found = NumericsCases().find(GetParam());
  ASSERT_NE(found, NumericsCases().end()) << "no test for row " << GetParam();
  found->second([](const kernels::Plan& plan, const std::byte* x, const std::byte* y,
                   uint64_t count) { return kernels::ReduceOnCpu(plan, x, y, count); });
  found->second([](const kernels::Plan& plan, const std::byte* x, const std::byte* y,
                   uint64_t count) { return kernels::ReduceOnCpuParallel(plan, x, y, count, 2); });
}

INSTANTIATE_TEST_SUITE_P(Rows, NumericsTest, ::testing::ValuesIn(KernelRowIds()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(NumericsTableTest, EveryCaseIsARowOfTheFile) {
  const std::vector<std::string> ids = RowIds();
  for (const auto& [id, check] : NumericsCases()) {
    EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 1) << id;
  }
  EXPECT_EQ(ids.size(), NumericsCases().size() + kServiceRows.size());
}

}  // namespace
}  // namespace reduction::testing
