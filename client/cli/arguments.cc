#include "client/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <utility>

#include "client/cli/npy.h"
#include "client/cli/version.h"

namespace reduction::cli {
namespace {

constexpr char kFooter[] = R"(
A FILE is a .npy file, raw little-endian numbers with --dtype, or - for standard input.
Exit status: 0; 1 when a call fails (or health finds a server that does not serve); 2 for a wrong
command line or a FILE that cannot be used. Errors are one line on standard error.)";

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

constexpr char kKnownTypes[] =
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64, f16 bf16 "
    "f32 f64 i16 i32 i64 u16 u32 u64, and NumPy's f2 f4 f8 i1 i2 i4 u1 u2 u4 <i8 <u8 (i8 and u8 "
    "alone can mean 8 bits or 8 bytes)";

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
  uint32_t ordinal = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, ordinal);
  if (error != std::errc() || rest != end) return std::nullopt;
  return Device{Kind::kGpu, ordinal};
}

// An option whose text `parse` turns into an optional value; `expected` says what it takes, and
// `known`, where that is too long for --help, lists it in errors.
template <class T, class Parse>
CLI::Option* AddParsed(CLI::App* app, const std::string& name, T* value, Parse parse,
                       const std::string& help, const std::string& expected,
                       const std::string& known = {}) {
  return app
      ->add_option_function<std::string>(
          name,
          [=](const std::string& text) {
            const auto parsed = parse(text);
            if (!parsed.has_value()) {
              throw CLI::ValidationError(name, "cannot use \"" + text + "\" as " + expected +
                                                   (known.empty() ? "" : "; known are " + known));
            }
            *value = *parsed;
          },
          help)
      ->type_name(expected);
}

template <class T>
auto OneOf(const std::map<std::string, T>& names) {
  return [names](const std::string& text) -> std::optional<T> {
    const auto found = names.find(text);
    if (found == names.end()) return std::nullopt;
    return found->second;
  };
}

std::optional<std::chrono::nanoseconds> SecondsNamed(const std::string& text) {
  constexpr double kLongest = 1e9;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || rest != end || !(seconds > 0) || seconds > kLongest) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

std::optional<uint64_t> CountNamed(const std::string& text) {
  uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || rest != end) return std::nullopt;
  return count;
}

std::optional<std::vector<Statistic>> StatisticsNamed(const std::string& list) {
  std::vector<Statistic> statistics;
  for (const std::string& name : CLI::detail::split(list, ',')) {
    const std::optional<Statistic> statistic = StatisticNamed(name);
    if (!statistic.has_value()) return std::nullopt;
    if (std::find(statistics.begin(), statistics.end(), *statistic) == statistics.end()) {
      statistics.push_back(*statistic);
    }
  }
  return statistics;
}

void AddOptions(CLI::App* app, Arguments* arguments) {
  ReduceOptions& options = arguments->options;
  app->add_option("--target", arguments->target,
                  "Server, or several that share a large array: host:port or unix:PATH")
      ->envname("REDUCTION_TARGET")
      ->default_val("127.0.0.1:50051")
      ->type_name("ADDR[,ADDR...]");
  app->add_option("--connections", arguments->connections,
                  "Connections to each server; a large array is split over all of them")
      ->default_val(1)
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  AddParsed(app, "--dtype", &arguments->dtype, TypeNamed,
            "Element type of raw numbers (float32, f32, f4, uint8, bfloat16, ...)", "TYPE",
            kKnownTypes);
  AddParsed(app, "--algorithm", &options.algorithm,
            OneOf<Algorithm>({{"auto", Algorithm::kAuto},
                              {"two-pass", Algorithm::kTwoPass},
                              {"atomic", Algorithm::kAtomic}}),
            "How a GPU combines; atomic: the last bits of a float sum may vary",
            "auto|two-pass|atomic");
  AddParsed(app, "--device", &options.device, DeviceNamed, "Where to compute",
            "auto|cpu|gpu|cuda|cuda:N");
  AddParsed(
      app, "--nan", &options.nan_policy,
      OneOf<NanPolicy>({{"propagate", NanPolicy::kPropagate}, {"ignore", NanPolicy::kIgnore}}),
      "A NaN makes the result NaN (default), or is left out", "propagate|ignore");
  AddParsed(
      app, "--overflow", &options.overflow,
      OneOf<OverflowPolicy>({{"wrap", OverflowPolicy::kWrap}, {"check", OverflowPolicy::kCheck}}),
      "An integer sum that does not fit in 64 bits wraps (default), or fails", "wrap|check");
  AddParsed(app, "--ddof", &options.ddof, CountNamed, "Variance divides by n - N (default: 0)",
            "N");
  AddParsed(app, "--timeout", &options.timeout, SecondsNamed,
            "Give up after this long (default: 60 s, for streamed arrays a day)", "SECONDS");
  AddParsed(app, "--stats", &arguments->statistics, StatisticsNamed,
            "What stats gives, separated by commas (default: everything)", "LIST",
            KnownStatistics());
  AddParsed(app, "--segment-length", &arguments->segment_length, CountNamed,
            "A result for every N elements in turn, one a line", "N");
  app->add_option("--segment-offsets", arguments->segment_offsets,
                  "A result for the elements between each two offsets in this file of int64 or "
                  "uint64, from 0 to the number of elements")
      ->type_name("FILE.npy");
  app->add_flag("--rows", arguments->rows,
                "A result for every row: the last axis of a .npy file in C order");
  app->add_flag("--json", arguments->json, "Print one JSON object on one line");
}

void AddCommands(CLI::App* app, Arguments* arguments) {
  struct Entry {
    Command command;
    const char* help;
    int files;
  };
  constexpr Entry kEntries[] = {
      {Command::kSum, "of FILE: sum of the elements", 1},
      {Command::kMin, "of FILE: smallest element", 1},
      {Command::kMax, "of FILE: largest element", 1},
      {Command::kDot, "of FILE FILE: dot product", 2},
      {Command::kStats, "of FILE: all statistics, or those of --stats, in one pass", 1},
      {Command::kHealth, "Whether the servers serve", 0},
      {Command::kInfo, "What the servers are and can do", 0},
  };
  for (const Entry& entry : kEntries) {
    CLI::App* const command = app->add_subcommand(CommandName(entry.command), entry.help);
    command->fallthrough();  // options may stand after the command too
    command->callback([=] { arguments->command = entry.command; });
    if (entry.files > 0) {
      command->add_option("FILE", arguments->files)
          ->required()
          ->expected(entry.files)
          ->type_name("");
    }
  }
  app->require_subcommand(1);
}

// What is wrong with a line whose words outside options, `words`, name no command.
std::string NoCommand(const std::vector<std::string>& words) {
  if (words.empty()) return "a command is required: sum, min, max, dot, stats, health or info";
  const std::string& word = words.front();
  if (word.starts_with('-')) return word + " is no option";
  if (StatisticNamed(word).has_value()) {
    return word + " is a statistic and no command; use reduction stats --stats=" + word + " FILE";
  }
  return "\"" + word + "\" is no command; use sum, min, max, dot, stats, health or info";
}

Status Wrong(std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  return {StatusCode::kInvalidArgument, what + " (see reduction --help)", {}, {}};
}

}  // namespace

std::string CommandName(Command command) {
  switch (command) {
    case Command::kSum:
      return "sum";
    case Command::kMin:
      return "min";
    case Command::kMax:
      return "max";
    case Command::kDot:
      return "dot";
    case Command::kStats:
      return "stats";
    case Command::kHealth:
      return "health";
    case Command::kInfo:
      break;
  }
  return "info";
}

Result<ParsedLine> ParseArguments(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app("Reduces arrays of numbers on a reduction server", "reduction");
  app.set_version_flag("--version", kVersion);
  app.footer(kFooter);
  AddOptions(&app, &arguments);
  AddCommands(&app, &arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    app.clear();  // or it would be the help of the command alone
    return ParsedLine{{}, app.help()};
  } catch (const CLI::CallForVersion&) {
    return ParsedLine{{}, std::string(kVersion) + "\n"};
  } catch (const CLI::RequiredError& error) {
    return Wrong(app.get_subcommands().empty() ? NoCommand(app.remaining()) : error.what());
  } catch (const CLI::Error& error) {
    return Wrong(error.what());
  }
  if (!arguments.statistics.empty() && arguments.command != Command::kStats) {
    return Wrong("--stats belongs to the command stats");
  }
  if (arguments.has_segments() && arguments.files.empty()) {
    return Wrong("segments belong to the commands that reduce a FILE");
  }
  if (arguments.segment_length.has_value() + !arguments.segment_offsets.empty() + arguments.rows >
      1) {
    return Wrong("--segment-length, --segment-offsets and --rows exclude each other");
  }
  if (arguments.segment_length == 0) return Wrong("--segment-length is 0, and must be at least 1");
  if (arguments.segment_offsets == "-") {
    return Wrong("--segment-offsets names a file; standard input is for the array");
  }
  if (arguments.files == std::vector<std::string>{"-", "-"}) {
    return Wrong("dot can take one array from standard input, not both");
  }
  return ParsedLine{std::move(arguments), {}};
}

}  // namespace reduction::cli
