#include "client/cli/bench_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/output.h"

namespace reduction::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Percentile {
  int percent;
  const char* name;
};
constexpr Percentile kPercentiles[] = {{50, "p50"}, {90, "p90"}, {99, "p99"}, {100, "max"}};

std::string OpName(const Arguments& arguments) {
  return arguments.bench.op ? CommandName(*arguments.bench.op) : "mixed";
}

uint64_t CountOf(const Arguments& arguments) {
  return arguments.bench.bytes / ElementSize(*arguments.dtype);
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::vector<std::pair<std::string, uint64_t>> ErrorsOf(const BenchTally& tally) {
  std::vector<std::pair<std::string, uint64_t>> errors;
  for (const auto& [code, count] : tally.failures) errors.emplace_back(StatusCodeName(code), count);
  if (tally.wrong_answers > 0) errors.emplace_back("WRONG_ANSWER", tally.wrong_answers);
  return errors;
}

// Three digits.
std::string Number(double value, const char* unit) {
  char text[64];
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::snprintf(text, sizeof(text), "%.*f%s", decimals, value, unit);
  return text;
}

std::string FormatSeconds(double seconds) {
  if (seconds < 1e-3) return Number(seconds * 1e6, " us");
  if (seconds < 1) return Number(seconds * 1e3, " ms");
  return Number(seconds, " s");
}

void AddExecution(const Execution& execution, std::vector<Execution>* executions) {
  const auto same = [&](const Execution& known) {
    return known.device == execution.device && known.algorithm == execution.algorithm;
  };
  if (std::none_of(executions->begin(), executions->end(), same)) executions->push_back(execution);
}

}  // namespace

void BenchTally::Add(const EndedCall& call, std::chrono::nanoseconds latency) {
  if (!call.status.ok()) {
    ++failures[call.status.code];
    if (!failure) failure = call.status;
    return;
  }
  for (const Execution& execution : call.executions) AddExecution(execution, &executions);
  if (call.wrong) {
    ++wrong_answers;
    return;
  }
  latencies.Record(latency);
  bytes += call.bytes;
}

void BenchTally::Merge(const BenchTally& other) {
  latencies.Merge(other.latencies);
  bytes += other.bytes;
  for (const auto& [code, count] : other.failures) failures[code] += count;
  wrong_answers += other.wrong_answers;
  if (!failure) failure = other.failure;
  for (const Execution& execution : other.executions) AddExecution(execution, &executions);
}

uint64_t BenchTally::failed() const {
  uint64_t failed = wrong_answers;
  for (const auto& [code, count] : failures) failed += count;
  return failed;
}

std::string FormatJson(const Arguments& arguments, const BenchTally& tally, double seconds) {
  Json json;
  json["op"] = OpName(arguments);
  json["count"] = CountOf(arguments);
  json["dtype"] = ElementTypeName(*arguments.dtype);
  if (arguments.segment_length) json["segments"] = CountOf(arguments) / *arguments.segment_length;
  json["device"] = JoinDevices(tally.executions);
  json["algorithm"] = JoinAlgorithms(tally.executions);
  json["connections"] = arguments.connections;
  json["concurrency"] = arguments.bench.concurrency;
  json["calls"] = tally.calls();
  Json& errors = json["errors"] = Json::object();
  for (const auto& [name, count] : ErrorsOf(tally)) errors[name] = count;
  json["bytes"] = tally.bytes;
  json["seconds"] = seconds;
  json["bytes_per_second"] = static_cast<double>(tally.bytes) / seconds;
  json["calls_per_second"] = static_cast<double>(tally.latencies.count()) / seconds;
  Json& latencies = json["latency_seconds"] = Json::object();
  for (const Percentile& percentile : kPercentiles) {
    const auto latency = tally.latencies.Percentile(percentile.percent);
    latencies[percentile.name] = latency ? Json(Seconds(*latency)) : Json();
  }
  // Names of devices come from the server and may hold anything.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string FormatText(const Arguments& arguments, const BenchTally& tally, double seconds) {
  std::string load = OpName(arguments) + " of " + std::to_string(CountOf(arguments)) + " " +
                     std::string(ElementTypeName(*arguments.dtype)) + " (" +
                     FormatBytes(static_cast<double>(arguments.bench.bytes)) + ")";
  if (arguments.segment_length) {
    load += " in segments of " + std::to_string(*arguments.segment_length);
  }
  std::string text = Line("load", load);
  text += Line("connections", std::to_string(arguments.connections));
  text += Line("calls in flight", std::to_string(arguments.bench.concurrency));
  text += Line("device", tally.executions.empty() ? "none"
                                                  : JoinDevices(tally.executions) + ", " +
                                                        JoinAlgorithms(tally.executions));
  text += Line("calls", std::to_string(tally.calls()) + " in " + FormatSeconds(seconds));
  std::string errors;
  for (const auto& [name, count] : ErrorsOf(tally)) {
    errors.append(errors.empty() ? "" : ", ").append(name + " " + std::to_string(count));
  }
  text += Line("errors", errors.empty() ? "none" : errors);
  text += Line("throughput",
               FormatBytes(static_cast<double>(tally.bytes) / seconds) + "/s, " +
                   Number(static_cast<double>(tally.latencies.count()) / seconds, " calls/s"));
  std::string latencies;
  for (const Percentile& percentile : kPercentiles) {
    const auto latency = tally.latencies.Percentile(percentile.percent);
    if (!latency) continue;
    latencies.append(latencies.empty() ? "" : ", ")
        .append(std::string(percentile.name) + " " + FormatSeconds(Seconds(*latency)));
  }
  return text + Line("latency", latencies.empty() ? "none" : latencies);
}

}  // namespace reduction::cli
