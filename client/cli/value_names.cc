#include "client/cli/value_names.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "client/cli/npy.h"

namespace reduction::cli {
namespace {

// Names as they are given, besides NumPy's own. i8 and u8 are not among them: who counts bits means
// one byte, who counts bytes, as NumPy does, means eight.
const std::map<std::string, ElementType>& ShortTypeNames() {
  static const std::map<std::string, ElementType> names = {
      {"f16", ElementType::kFloat16},   {"bf16", ElementType::kBfloat16},
      {"f32", ElementType::kFloat32},   {"f64", ElementType::kFloat64},
      {"i16", ElementType::kInt16},     {"i32", ElementType::kInt32},
      {"i64", ElementType::kInt64},     {"u16", ElementType::kUint16},
      {"u32", ElementType::kUint32},    {"u64", ElementType::kUint64},
      {"half", ElementType::kFloat16},  {"float", ElementType::kFloat32},
      {"double", ElementType::kFloat64}};
  return names;
}

// The whole of `text` as a number.
template <class T>
std::optional<T> NumberNamed(const std::string& text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<ElementType> TypeNamed(const std::string& name) {
  constexpr std::string_view kByteOrders = "<=|";
  if (!name.empty() && kByteOrders.find(name.front()) != std::string_view::npos) {
    return TypeOfNumPyCode(std::string_view(name).substr(1));
  }
  if (name != "i8" && name != "u8") {
    if (const std::optional<ElementType> type = TypeOfNumPyCode(name)) return type;
  }
  const auto found = ShortTypeNames().find(name);
  if (found != ShortTypeNames().end()) return found->second;
  for (int i = 1; i <= static_cast<int>(ElementType::kUint64); ++i) {
    if (ElementTypeName(static_cast<ElementType>(i)) == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

std::optional<Statistic> StatisticNamed(const std::string& name) {
  if (name == "std") return Statistic::kStandardDeviation;
  if (name == "var") return Statistic::kVariance;
  for (int i = 1; i < static_cast<int>(Statistic::kDot); ++i) {
    if (StatisticName(static_cast<Statistic>(i)) == name) return static_cast<Statistic>(i);
  }
  return std::nullopt;
}

std::string KnownStatistics() {
  std::string known;
  for (int i = 1; i < static_cast<int>(Statistic::kDot); ++i) {
    known += std::string(known.empty() ? "" : " ") +
             std::string(StatisticName(static_cast<Statistic>(i)));
  }
  return known + ", std and var";
}

std::optional<Device> DeviceNamed(const std::string& name) {
  using Kind = Device::Kind;
  if (name == "auto") return Device{};
  if (name == "cpu") return Device{Kind::kCpu, {}};
  if (name == "gpu" || name == "cuda") return Device{Kind::kGpu, {}};
  constexpr std::string_view kPrefix = "cuda:";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto ordinal = NumberNamed<uint32_t>(name.substr(kPrefix.size()));
  if (!ordinal.has_value()) return std::nullopt;
  return Device{Kind::kGpu, ordinal};
}

std::optional<std::chrono::nanoseconds> SecondsNamed(const std::string& text) {
  constexpr double kLongest = 1e9;
  const auto seconds = NumberNamed<double>(text);
  if (!seconds.has_value() || !(*seconds > 0) || *seconds > kLongest) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(*seconds));
}

std::optional<uint64_t> CountNamed(const std::string& text) { return NumberNamed<uint64_t>(text); }

std::optional<uint64_t> PositiveNamed(const std::string& text) {
  const auto count = CountNamed(text);
  return count == 0 ? std::nullopt : count;
}

std::optional<double> RateNamed(const std::string& text) {
  const auto rate = NumberNamed<double>(text);
  if (!rate.has_value() || !(*rate > 0) || !std::isfinite(*rate)) return std::nullopt;
  return rate;
}

std::optional<std::vector<Statistic>> StatisticsNamed(const std::string& list) {
  std::vector<Statistic> statistics;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::optional<Statistic> statistic = StatisticNamed(list.substr(begin, end - begin));
    begin = end + 1;
    if (!statistic.has_value()) return std::nullopt;
    if (std::find(statistics.begin(), statistics.end(), *statistic) == statistics.end()) {
      statistics.push_back(*statistic);
    }
  }
  return statistics;
}

}  // namespace reduction::cli
