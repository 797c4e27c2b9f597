#include "client/cli/output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace reduction::cli {
namespace {

using nlohmann::json;

Report MakeReport(Value value) {
  Report report;
  report.type = ElementType::kFloat32;
  report.reduction.values = {{Statistic::kSum, value}};
  report.reduction.count = 12;
  report.reduction.executions = {{"cuda:1", Algorithm::kTwoPass}, {"cuda:0", Algorithm::kTwoPass}};
  report.seconds = 0.5;
  report.bytes = 100;
  return report;
}

TEST(FormatJson, IsOneObjectOnOneLine) {
  const std::string text = FormatJson(MakeReport(2.5));
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const json object = json::parse(text);
  EXPECT_EQ(object["op"], "sum");
  EXPECT_EQ(object["value"], 2.5);
  EXPECT_EQ(object["count"], 12);
  EXPECT_EQ(object["dtype"], "float32");
  EXPECT_EQ(object["device"], "cuda:0,cuda:1");
  EXPECT_EQ(object["algorithm"], "two-pass");
  EXPECT_EQ(object["seconds"], 0.5);
  EXPECT_EQ(object["bytes_per_second"], 200.0);
}

TEST(FormatJson, NamesEachStatistic) {
  Report report = MakeReport(1.0);
  report.command = Command::kStats;
  report.reduction.values.push_back({Statistic::kArgmax, std::monostate()});
  const json object = json::parse(FormatJson(report));
  EXPECT_FALSE(object.contains("value"));
  EXPECT_EQ(object["values"]["sum"], 1.0);
  EXPECT_TRUE(object["values"]["argmax"].is_null());
}

TEST(FormatJson, WritesNonFiniteNumbersAsStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(json::parse(FormatJson(MakeReport(std::nan(""))))["value"], "NaN");
  EXPECT_EQ(json::parse(FormatJson(MakeReport(infinity)))["value"], "Infinity");
  EXPECT_EQ(json::parse(FormatJson(MakeReport(-infinity)))["value"], "-Infinity");
}

SegmentsReport MakeSegmentsReport() {
  SegmentsReport report;
  report.reduction.columns = {
      {Statistic::kMin, std::vector<double>{1.5, 0, NAN}, {0x05}},
      {Statistic::kArgmin, std::vector<uint64_t>{3, 0, UINT64_MAX}, {0x05}}};
  report.reduction.counts = {4, 0, 2};
  report.reduction.count = 6;
  report.reduction.executions = {{"cpu", Algorithm::kTwoPass}};
  report.seconds = 1;
  return report;
}

TEST(FormatJson, HasAnArrayForSegments) {
  SegmentsReport report = MakeSegmentsReport();
  report.command = Command::kStats;
  const json object = json::parse(FormatJson(report));
  EXPECT_EQ(object["values"]["min"], json::parse("[1.5, null, \"NaN\"]"));
  EXPECT_EQ(object["values"]["argmin"], json::parse("[3, null, 18446744073709551615]"));
  EXPECT_EQ(object["counts"], json::parse("[4, 0, 2]"));
  EXPECT_EQ(object["segments"], 3);
  EXPECT_EQ(object["count"], 6);
  report.command = Command::kMin;
  EXPECT_EQ(json::parse(FormatJson(report))["value"], object["values"]["min"]);
}

TEST(FormatText, HasALineForEachSegment) {
  SegmentsReport report = MakeSegmentsReport();
  report.command = Command::kStats;
  EXPECT_EQ(FormatText(report),
            "count\tmin\targmin\n4\t1.5\t3\n0\tnone\tnone\n2\tNaN\t18446744073709551615\n");
  report.command = Command::kMin;
  report.reduction.columns.resize(1);
  EXPECT_EQ(FormatText(report), "1.5\nnone\nNaN\n");
}

TEST(FormatJson, KeepsEveryBitOfNumbers) {
  EXPECT_NE(FormatJson(MakeReport(UINT64_MAX)).find("18446744073709551615"), std::string::npos);
  EXPECT_NE(FormatJson(MakeReport(INT64_MIN)).find("-9223372036854775808"), std::string::npos);
  for (const double value : {0.1, 1e300, 5e-324, -0.0, 1.0 / 3, 123456789.123456789}) {
    const double read = json::parse(FormatJson(MakeReport(value)))["value"];
    EXPECT_EQ(read, value);
    EXPECT_EQ(std::signbit(read), std::signbit(value));
    EXPECT_EQ(std::strtod(FormatText(MakeReport(value)).c_str(), nullptr), value);
  }
}

TEST(FormatText, IsTheValueAlone) {
  EXPECT_EQ(FormatText(MakeReport(0.1)), "0.1\n");
  EXPECT_EQ(FormatText(MakeReport(int64_t{-3})), "-3\n");
  EXPECT_EQ(FormatText(MakeReport(std::nan(""))), "NaN\n");
}

TEST(FormatHealth, SpeaksTheHealthProtocolsWords) {
  EXPECT_EQ(FormatHealth(true, false), "SERVING\n");
  EXPECT_EQ(json::parse(FormatHealth(false, true))["status"], "NOT_SERVING");
}

TEST(FormatInfo, SurvivesTextsThatAreNoUtf8) {
  ServerInfo info;
  info.target = "a:1";
  info.devices = {{"cuda:0", "\xff\xfe", 1, 8}};
  info.statistics = {Statistic::kL2Norm};
  const json object = json::parse(FormatInfo({info}, true));
  EXPECT_EQ(object["servers"][0]["devices"][0]["lanes"], 8);
  EXPECT_EQ(object["servers"][0]["statistics"][0], "l2_norm");
  EXPECT_NE(FormatInfo({info, info}, false).find("l2_norm"), std::string::npos);
}

TEST(FormatError, IsOneLineWhateverTheServerSays) {
  EXPECT_EQ(FormatError({StatusCode::kNotFound, "a\nb\r\x1b[2J", {}, {}}),
            "reduction: NOT_FOUND: a b  [2J\n");
}

TEST(FormatBytes, UsesBinaryUnits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(24.0 * (1 << 30)), "24 GiB");
}

}  // namespace
}  // namespace reduction::cli
