#include "server/metrics.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace reduction::server {
namespace {

// What a scrape says.
std::string Text(const Metrics& metrics) {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& collectable : metrics.collectables()) {
    for (auto& family : collectable->Collect()) families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

bool HasLine(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(Histogram, CountsAValueInTheFirstBucketThatHoldsIt) {
  Histogram histogram({1, 2, 4});
  for (const double value : {0.5, 1.0, 1.5, 2.0, 4.0, 4.5, 8.0}) histogram.Observe(value);
  const auto collected = histogram.Collect().histogram;
  std::vector<uint64_t> counts;
  for (const auto& bucket : collected.bucket) counts.push_back(bucket.cumulative_count);
  EXPECT_EQ(counts, (std::vector<uint64_t>{2, 4, 5, 7}));
  EXPECT_EQ(collected.bucket.back().upper_bound, std::numeric_limits<double>::infinity());
  EXPECT_EQ(collected.sample_count, 7u);
  EXPECT_DOUBLE_EQ(collected.sample_sum, 21.5);
}

TEST(Histogram, LosesNothingThatThreadsObserveAtOnce) {
  Histogram histogram({1});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&histogram] {
      for (int j = 0; j < 10'000; ++j) histogram.Observe(j % 2 == 0 ? 1 : 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto collected = histogram.Collect().histogram;
  EXPECT_EQ(collected.bucket[0].cumulative_count, 20'000u);
  EXPECT_EQ(collected.sample_count, 40'000u);
  EXPECT_EQ(collected.sample_sum, 80'000);
}

TEST(Metrics, DeviceHasThePeaksOfItsTwoLinks) {
  Metrics metrics;
  kernels::DeviceInfo info;
  info.label = "cuda:1";
  info.memory_bytes_per_second = 4.8e12;
  info.copy_bytes_per_second = 5.5e10;
  metrics.AddDevice(info);
  const std::string text = Text(metrics);
  const std::string name = "reduction_device_peak_bandwidth_bytes_per_second";
  EXPECT_TRUE(HasLine(text, name + R"({device="cuda:1",link="kernel"} 4800000000000)")) << text;
  EXPECT_TRUE(HasLine(text, name + R"({device="cuda:1",link="copy"} 55000000000)")) << text;
}

TEST(Metrics, DevicesAreCountedApart) {
  Metrics metrics;
  kernels::DeviceInfo info;
  info.label = "cpu";
  metrics.AddDevice(info);
  info.label = "cuda:0";
  DeviceMetrics& gpu = *metrics.AddDevice(info);
  gpu.healthy->Set(0);
  gpu.ObserveStage(Stage::kKernel, std::chrono::milliseconds(2));
  gpu.batch_size->Observe(3);
  gpu.AddBusy(Link::kCopy, std::array{kernels::Interval{0, 500'000'000}});
  ReductionSpec spec;
  spec.operation = Operation::kDot;
  spec.plan.type = kernels::ElementType::kUint64;
  gpu.CountReduced(spec, Source::kStream, 160, 10);
  const std::string text = Text(metrics);
  for (const std::string device : {"cpu", "cuda:0"}) {
    const std::string is_gpu = device == "cpu" ? "0" : "1";
    const std::string pair = "device=\"" + device + "\"";
    EXPECT_TRUE(
        HasLine(text, "reduction_device_healthy{" + pair + "} " + (device == "cpu" ? "1" : "0")));
    EXPECT_TRUE(
        HasLine(text, "reduction_stage_seconds_count{" + pair + ",stage=\"kernel\"} " + is_gpu));
    EXPECT_TRUE(HasLine(text, "reduction_stage_seconds_bucket{" + pair +
                                  ",stage=\"kernel\",le=\"0.0025\"} " + is_gpu));
    EXPECT_TRUE(HasLine(
        text, "reduction_stage_seconds_bucket{" + pair + ",stage=\"kernel\",le=\"0.001\"} 0"));
    EXPECT_TRUE(HasLine(text, "reduction_batch_size_bucket{" + pair + ",le=\"4\"} " + is_gpu));
    EXPECT_TRUE(HasLine(text, "reduction_device_busy_seconds_total{" + pair + ",link=\"copy\"} " +
                                  (device == "cpu" ? "0" : "0.5")));
    const std::string labels = pair + R"(,dtype="uint64",op="dot",source="stream"} )";
    EXPECT_TRUE(HasLine(text, "reduction_bytes_total{" + labels + (device == "cpu" ? "0" : "160")));
    EXPECT_TRUE(
        HasLine(text, "reduction_elements_total{" + labels + (device == "cpu" ? "0" : "10")));
  }
}

}  // namespace
}  // namespace reduction::server
