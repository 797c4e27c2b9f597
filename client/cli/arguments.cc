#include "client/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "client/cli/bench_options.h"
#include "client/cli/parsed_option.h"
#include "client/cli/value_names.h"
#include "client/cli/version.h"

namespace reduction::cli {
namespace {

constexpr char kFooter[] = R"(
A FILE is a .npy file, raw little-endian numbers with --dtype, or - for standard input.
bench sends random numbers, the same in every run. Each answer must have the bits of the first one
(with --algorithm=atomic, a float sum those that its rounding allows), or it counts as WRONG_ANSWER.
Rates and latencies are of calls that succeeded, repetitions by the library included; percentiles
are within 0.4 percent. After a failed call the next one in its place waits, longer each time, up to
2 s or as long as the server asks.
Ctrl-C ends the load and prints what was measured; a second one does not wait for running calls.
Exit status: 0; 1 when a call fails (or health finds a server that does not serve); 2 for a wrong
command line, a FILE that cannot be used, or segments that do not fit the array, also where only the
server can tell. Errors are one line on standard error.)";

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
      {Command::kBench, "Load on the servers: bandwidth, latencies and errors", 0},
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

constexpr char kCommands[] = "sum, min, max, dot, stats, bench, health or info";

// What is wrong with a line whose words outside options, `words`, name no command.
std::string NoCommand(const std::vector<std::string>& words) {
  if (words.empty()) return "a command is required: " + std::string(kCommands);
  const std::string& word = words.front();
  if (word.starts_with('-')) return word + " is no option";
  if (StatisticNamed(word).has_value()) {
    return word + " is a statistic and no command; use reduction stats --stats=" + word + " FILE";
  }
  return "\"" + word + "\" is no command; use " + kCommands;
}

Status Wrong(std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  return {StatusCode::kInvalidArgument, what + " (see reduction --help)", {}, {}};
}

Status CheckSegments(const Arguments& arguments) {
  if (arguments.segment_length.has_value() + !arguments.segment_offsets.empty() + arguments.rows >
      1) {
    return Wrong("--segment-length, --segment-offsets and --rows exclude each other");
  }
  if (arguments.segment_length == 0) return Wrong("--segment-length is 0, and must be at least 1");
  if (arguments.segment_offsets == "-") {
    return Wrong("--segment-offsets names a file; standard input is for the array");
  }
  return {};
}

// Whether the command, or the load of bench, has what stats gives.
bool GivesStatistics(const Arguments& arguments) {
  if (arguments.command != Command::kBench) return arguments.command == Command::kStats;
  return arguments.bench.op.value_or(Command::kStats) == Command::kStats;
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
    case Command::kBench:
      return "bench";
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
  const BenchOptions bench_options(&app, &arguments);
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
  const bool bench = arguments.command == Command::kBench;
  if (!bench) {
    const std::string given = bench_options.Given();
    if (!given.empty()) return Wrong(given + " belongs to the command bench");
  }
  if (!arguments.statistics.empty() && !GivesStatistics(arguments)) {
    return Wrong("--stats belongs to the command stats");
  }
  if (arguments.has_segments() && arguments.files.empty() && !bench) {
    return Wrong("segments belong to the commands that reduce a FILE");
  }
  const Status segments = CheckSegments(arguments);
  if (!segments.ok()) return segments;
  if (arguments.files == std::vector<std::string>{"-", "-"}) {
    return Wrong("dot can take one array from standard input, not both");
  }
  if (bench) {
    const std::string wrong = bench_options.Complete();
    if (!wrong.empty()) return Wrong(wrong);
  }
  return ParsedLine{std::move(arguments), {}};
}

}  // namespace reduction::cli
