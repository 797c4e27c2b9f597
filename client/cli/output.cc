#include "client/cli/output.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

namespace reduction::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view NonFinite(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

Json ToJson(const Value& value) {
  if (const double* real = std::get_if<double>(&value)) {
    return std::isfinite(*real) ? Json(*real) : Json(NonFinite(*real));
  }
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const uint64_t* integer = std::get_if<uint64_t>(&value)) return *integer;
  return nullptr;
}

std::string ToText(const Value& value) {
  if (const double* real = std::get_if<double>(&value)) {
    if (!std::isfinite(*real)) return std::string(NonFinite(*real));
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), *real);
    return std::string(text, end.ptr);
  }
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const uint64_t* integer = std::get_if<uint64_t>(&value)) return std::to_string(*integer);
  return "none";
}

// The distinct texts of `executions`, joined by commas.
template <class Text>
std::string Join(const std::vector<Execution>& executions, Text text) {
  std::vector<std::string> distinct;
  for (const Execution& execution : executions) distinct.emplace_back(text(execution));
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::string joined;
  for (const std::string& part : distinct) joined.append(joined.empty() ? "" : ",").append(part);
  return joined;
}

template <class T, class Name>
std::string JoinNames(const std::vector<T>& values, Name name) {
  std::string joined;
  for (const T value : values) joined.append(joined.empty() ? "" : " ").append(name(value));
  return joined;
}

template <class T, class Name>
Json NamesJson(const std::vector<T>& values, Name name) {
  Json names = Json::array();
  for (const T value : values) names.push_back(name(value));
  return names;
}

// Texts of a server may hold anything: invalid UTF-8 is replaced.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json InfoJson(const ServerInfo& info) {
  Json devices = Json::array();
  for (const ServerInfo::DeviceInfo& device : info.devices) {
    devices.push_back({{"device", device.device},
                       {"name", device.name},
                       {"memory_bytes", device.memory_bytes},
                       {"lanes", device.lanes}});
  }
  return {{"target", info.target},
          {"version", info.version},
          {"instance_id", info.instance_id},
          {"order_version", info.order_version},
          {"leaf_bytes", info.leaf_bytes},
          {"devices", devices},
          {"limits",
           {{"max_message_bytes", info.max_message_bytes},
            {"memory_limit_bytes", info.memory_limit_bytes},
            {"max_streams", info.max_streams},
            {"max_queued_calls", info.max_queued_calls},
            {"min_stream_bytes_per_second", info.min_stream_bytes_per_second}}},
          {"element_types", NamesJson(info.element_types, ElementTypeName)},
          {"statistics", NamesJson(info.statistics, StatisticName)}};
}

std::string InfoText(const ServerInfo& info) {
  std::string text = Line("server", info.target) + Line("version", info.version) +
                     Line("instance", info.instance_id);
  for (const ServerInfo::DeviceInfo& device : info.devices) {
    text += Line("device", device.device + ": " + device.name + ", " +
                               FormatBytes(static_cast<double>(device.memory_bytes)) + ", " +
                               std::to_string(device.lanes) + " lanes");
  }
  text += Line("largest message", FormatBytes(static_cast<double>(info.max_message_bytes)));
  text += Line("memory limit", FormatBytes(static_cast<double>(info.memory_limit_bytes)));
  text += Line("streams at once", std::to_string(info.max_streams));
  text += Line("waiting calls", std::to_string(info.max_queued_calls));
  text += Line("element types", JoinNames(info.element_types, ElementTypeName));
  text += Line("statistics", JoinNames(info.statistics, StatisticName));
  return text;
}

// What every report has.
template <class Report>
void AddCommon(const Report& report, Json* json) {
  const std::vector<Execution>& executions = report.reduction.executions;
  (*json)["count"] = report.reduction.count;
  (*json)["dtype"] = ElementTypeName(report.type);
  (*json)["device"] = JoinDevices(executions);
  (*json)["algorithm"] = JoinAlgorithms(executions);
  (*json)["seconds"] = report.seconds;
  (*json)["bytes_per_second"] = static_cast<double>(report.bytes) / report.seconds;
}

}  // namespace

std::string FormatJson(const Report& report) {
  const Reduction& reduction = report.reduction;
  Json json;
  json["op"] = CommandName(report.command);
  if (report.command == Command::kStats) {
    Json& values = json["values"] = Json::object();
    for (const StatisticValue& entry : reduction.values) {
      values[std::string(StatisticName(entry.statistic))] = ToJson(entry.value);
    }
  } else {
    json["value"] = ToJson(reduction.values.front().value);
  }
  AddCommon(report, &json);
  return Dump(json);
}

std::string FormatText(const Report& report) {
  const Reduction& reduction = report.reduction;
  if (report.command != Command::kStats) return ToText(reduction.values.front().value) + "\n";
  std::string text = Line("count", std::to_string(reduction.count));
  for (const StatisticValue& entry : reduction.values) {
    text += Line(StatisticName(entry.statistic), ToText(entry.value));
  }
  return text;
}

std::string FormatJson(const SegmentsReport& report) {
  const SegmentedReduction& reduction = report.reduction;
  Json json;
  json["op"] = CommandName(report.command);
  json["segments"] = reduction.size();
  const auto array = [&](const Column& column) {
    Json values = Json::array();
    for (size_t i = 0; i < reduction.size(); ++i) values.push_back(ToJson(column.At(i)));
    return values;
  };
  if (report.command == Command::kStats) {
    Json& values = json["values"] = Json::object();
    for (const Column& column : reduction.columns) {
      values[std::string(StatisticName(column.statistic))] = array(column);
    }
  } else {
    json["value"] = array(reduction.columns.front());
  }
  json["counts"] = reduction.counts;
  AddCommon(report, &json);
  return Dump(json);
}

std::string FormatText(const SegmentsReport& report) {
  const SegmentedReduction& reduction = report.reduction;
  const bool stats = report.command == Command::kStats;
  std::string text;
  if (stats) {
    text = "count";
    for (const Column& column : reduction.columns) {
      text.append("\t").append(StatisticName(column.statistic));
    }
    text += '\n';
  }
  for (size_t i = 0; i < reduction.size(); ++i) {
    if (stats) text.append(std::to_string(reduction.counts[i])).append("\t");
    for (size_t j = 0; j < reduction.columns.size(); ++j) {
      if (j > 0) text += '\t';
      text += ToText(reduction.columns[j].At(i));
    }
    text += '\n';
  }
  return text;
}

std::string FormatInfo(const std::vector<ServerInfo>& servers, bool json) {
  if (json) {
    Json list = Json::array();
    for (const ServerInfo& server : servers) list.push_back(InfoJson(server));
    return Dump({{"op", "info"}, {"servers", list}});
  }
  std::string text;
  for (const ServerInfo& server : servers)
    text.append(text.empty() ? "" : "\n").append(InfoText(server));
  return text;
}

std::string FormatHealth(bool serving, bool json) {
  const std::string status = serving ? "SERVING" : "NOT_SERVING";
  return json ? Dump({{"op", "health"}, {"status", status}}) : status + "\n";
}

std::string FormatError(const Status& status) {
  std::string line =
      "reduction: " + std::string(StatusCodeName(status.code)) + ": " + status.message;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line + "\n";
}

std::string Line(std::string_view name, const std::string& value) {
  constexpr size_t kWidth = 20;
  std::string line(name);
  line.resize(std::max(kWidth, line.size() + 1), ' ');
  return line + value + "\n";
}

std::string JoinDevices(const std::vector<Execution>& executions) {
  return Join(executions, [](const Execution& execution) { return execution.device; });
}

std::string JoinAlgorithms(const std::vector<Execution>& executions) {
  return Join(executions,
              [](const Execution& execution) { return AlgorithmName(execution.algorithm); });
}

std::string FormatBytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f %s", bytes < 10 && unit > 0 ? 1 : 0, bytes, kUnits[unit]);
  return text;
}

}  // namespace reduction::cli
