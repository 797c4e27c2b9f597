// What reduction bench sends, compares and prints.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "client/cli/bench_answer.h"
#include "client/cli/bench_report.h"
#include "client/cli/random_numbers.h"

namespace reduction::cli {
namespace {

using nlohmann::json;
using std::chrono_literals::operator""ms;

Answer Whole(Value value, uint64_t count = 3) {
  Reduction reduction;
  reduction.values = {{Statistic::kSum, value}};
  reduction.count = count;
  return reduction;
}

Answer Segments(std::vector<double> values, std::vector<uint8_t> validity) {
  SegmentedReduction reduction;
  reduction.counts.assign(values.size(), 1);
  reduction.columns = {{Statistic::kMax, std::move(values), std::move(validity)}};
  return reduction;
}

TEST(SameAnswer, ComparesBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(SameAnswer(Whole(1.5), Whole(1.5), 0));
  EXPECT_TRUE(SameAnswer(Whole(nan), Whole(nan), 0));
  EXPECT_FALSE(SameAnswer(Whole(0.0), Whole(-0.0), 0));
  EXPECT_FALSE(SameAnswer(Whole(1.5), Whole(std::nextafter(1.5, 2)), 0));
  EXPECT_FALSE(SameAnswer(Whole(int64_t{1}), Whole(uint64_t{1}), 0));
  EXPECT_FALSE(SameAnswer(Whole(int64_t{1}), Whole(int64_t{2}), 0));
  EXPECT_TRUE(SameAnswer(Whole(std::monostate()), Whole(std::monostate()), 0));
  EXPECT_FALSE(SameAnswer(Whole(1.5, 3), Whole(1.5, 4), 0));
}

TEST(SameAnswer, ComparesSegments) {
  const Answer answer = Segments({1, 2, 3}, {});
  EXPECT_TRUE(SameAnswer(answer, Segments({1, 2, 3}, {0b111}), 0));
  EXPECT_FALSE(SameAnswer(answer, Segments({1, 2, 3}, {0b101}), 0));
  EXPECT_FALSE(SameAnswer(answer, Segments({1, 2, 4}, {}), 0));
  EXPECT_FALSE(SameAnswer(answer, Segments({1, 2}, {}), 0));
  EXPECT_FALSE(SameAnswer(answer, Whole(1.0), 0));
  EXPECT_FALSE(SameAnswer(Whole(1.0), answer, 0));
}

TEST(SameAnswer, AllowsADifferenceOfFloatsAlone) {
  EXPECT_TRUE(SameAnswer(Whole(1.0), Whole(1.25), 0.5));
  EXPECT_FALSE(SameAnswer(Whole(1.0), Whole(1.75), 0.5));
  EXPECT_FALSE(SameAnswer(Whole(int64_t{1}), Whole(int64_t{2}), 5));
  EXPECT_TRUE(SameAnswer(Segments({1}, {}), Segments({1.25}, {}), 0.5));
}

TEST(RandomNumbers, AreOfManyValuesAndAlwaysTheSame) {
  constexpr size_t kCount = 1000;
  for (int i = 1; i <= static_cast<int>(ElementType::kUint64); ++i) {
    const auto type = static_cast<ElementType>(i);
    const size_t size = ElementSize(type);
    const std::vector<std::byte> numbers = RandomNumbers(type, kCount, 1);
    ASSERT_EQ(numbers.size(), kCount * size);
    EXPECT_EQ(numbers, RandomNumbers(type, kCount, 1));
    EXPECT_NE(numbers, RandomNumbers(type, kCount, 2));
    std::set<std::vector<std::byte>> values;
    for (auto at = numbers.begin(); at != numbers.end(); at += size) values.emplace(at, at + size);
    EXPECT_GT(values.size(), 50u) << ElementTypeName(type);
  }
}

TEST(RandomNumbers, AreFinite) {
  const std::vector<std::byte> bytes = RandomNumbers(ElementType::kBfloat16, 1000, 3);
  const auto* numbers = reinterpret_cast<const bfloat16*>(bytes.data());
  for (int i = 0; i < 1000; ++i) EXPECT_LE(std::abs(static_cast<float>(numbers[i])), 1);
}

Arguments MakeArguments() {
  Arguments arguments;
  arguments.command = Command::kBench;
  arguments.dtype = ElementType::kFloat64;
  arguments.connections = 2;
  arguments.bench.bytes = 4096;
  arguments.bench.concurrency = 3;
  return arguments;
}

TEST(BenchReport, CountsCallsThatSucceedAndFail) {
  BenchTally one;
  one.Add({{}, false, 100, {{"cpu", Algorithm::kTwoPass}}}, 4ms);
  one.Add({{StatusCode::kUnavailable, "gone", {}, {}}, false, 0, {}}, 1ms);
  BenchTally other;
  other.Add({{}, false, 100, {{"cuda:0", Algorithm::kTwoPass}}}, 8ms);
  other.Add({{}, true, 100, {{"cuda:0", Algorithm::kTwoPass}}}, 1ms);
  other.Add({{StatusCode::kInternal, "odd", {}, {}}, false, 0, {}}, 1ms);
  other.Add({{StatusCode::kUnavailable, "away", {}, {}}, false, 0, {}}, 1ms);
  one.Merge(other);
  EXPECT_EQ(one.calls(), 6u);
  EXPECT_EQ(one.failed(), 4u);
  EXPECT_EQ(one.failure->message, "gone");

  const std::string text = FormatJson(MakeArguments(), one, 0.5);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const json object = json::parse(text);
  EXPECT_EQ(object["op"], "sum");
  EXPECT_EQ(object["count"], 512);
  EXPECT_EQ(object["dtype"], "float64");
  EXPECT_EQ(object["device"], "cpu,cuda:0");
  EXPECT_EQ(object["algorithm"], "two-pass");
  EXPECT_EQ(object["connections"], 2);
  EXPECT_EQ(object["concurrency"], 3);
  EXPECT_EQ(object["calls"], 6);
  EXPECT_EQ(object["errors"], (json{{"UNAVAILABLE", 2}, {"INTERNAL", 1}, {"WRONG_ANSWER", 1}}));
  EXPECT_EQ(object["bytes"], 200);
  EXPECT_EQ(object["seconds"], 0.5);
  EXPECT_EQ(object["bytes_per_second"], 400.0);
  EXPECT_EQ(object["calls_per_second"], 4.0);
  EXPECT_NEAR(object["latency_seconds"]["p50"], 0.004, 0.004 / 256);
  EXPECT_EQ(object["latency_seconds"]["max"], 0.008);
  const std::string lines = FormatText(MakeArguments(), one, 0.5);
  for (const char* const part :
       {"sum of 512 float64 (4.0 KiB)", "6 in 500 ms", "UNAVAILABLE 2", "WRONG_ANSWER 1",
        "400 B/s, 4.00 calls/s", "max 8.00 ms", "cpu,cuda:0, two-pass"}) {
    EXPECT_NE(lines.find(part), std::string::npos) << part << " in\n" << lines;
  }
}

TEST(BenchReport, HasNoLatencyWhereNoCallSucceeded) {
  Arguments arguments = MakeArguments();
  arguments.bench.op.reset();
  arguments.segment_length = 256;
  const json object = json::parse(FormatJson(arguments, {}, 0.5));
  EXPECT_EQ(object["op"], "mixed");
  EXPECT_EQ(object["segments"], 2);
  EXPECT_EQ(object["errors"], json::object());
  for (const char* const name : {"p50", "p90", "p99", "max"}) {
    EXPECT_TRUE(object["latency_seconds"][name].is_null()) << name;
  }
  EXPECT_EQ(object["calls_per_second"], 0.0);
}

}  // namespace
}  // namespace reduction::cli
