#include "client/cli/bench_options.h"

#include <chrono>

#include "client/cli/parsed_option.h"
#include "client/cli/value_names.h"

namespace reduction::cli {
namespace {

constexpr const char* kBenchOptions[] = {"--op",       "--size",     "--elements", "--concurrency",
                                         "--duration", "--requests", "--rate"};

}  // namespace

BenchOptions::BenchOptions(CLI::App* app, Arguments* arguments) : app_(app), arguments_(arguments) {
  BenchArguments* const bench = &arguments->bench;
  using Op = std::optional<Command>;
  AddParsed(app, "--op", &bench->op,
            OneOf<Op>({{"sum", Command::kSum},
                       {"min", Command::kMin},
                       {"max", Command::kMax},
                       {"dot", Command::kDot},
                       {"stats", Command::kStats},
                       {"mixed", Op()}}),
            "What to ask for (default: sum); mixed: all in turn, and sums of segments",
            "sum|min|max|dot|stats|mixed");
  app->add_option("--size", bench->bytes,
                  "Array to send, in bytes or like 64MiB; dot sends two (default: 1MiB)")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->type_name("BYTES");
  AddParsed(app, "--elements", &elements_, PositiveNamed, "The same in elements of --dtype", "N");
  app->add_option("--concurrency", bench->concurrency,
                  "Calls in flight (default: one a connection); fewer than connections: an array "
                  "is split over its call's share of them")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  AddParsed(app, "--duration", &bench->duration, SecondsNamed,
            "Start no call after this long (default: 10 s, without --requests)", "SECONDS");
  AddParsed(app, "--requests", &bench->requests, PositiveNamed, "Make N calls", "N");
  AddParsed(app, "--rate", &bench->rate, RateNamed,
            "Start so many calls a second, as far as --concurrency allows; latencies count from "
            "when a call was due (default: each when the one before is done)",
            "N");
  for (const char* const name : kBenchOptions) app->get_option(name)->group("Options of bench");
}

std::string BenchOptions::Given() const {
  for (const char* const name : kBenchOptions) {
    if (app_->count(name) > 0) return name;
  }
  return {};
}

std::string BenchOptions::Complete() const {
  constexpr uint64_t kMostBytes = uint64_t{1} << 40;
  Arguments* const arguments = arguments_;
  BenchArguments& bench = arguments->bench;
  if (!arguments->dtype.has_value()) arguments->dtype = ElementType::kFloat32;
  const uint64_t element_size = ElementSize(*arguments->dtype);
  if (elements_.has_value()) {
    if (app_->count("--size") > 0) return "--size and --elements exclude each other";
    if (*elements_ > kMostBytes / element_size) return "--elements make more than 1 TiB";
    bench.bytes = *elements_ * element_size;
  }
  if (bench.bytes == 0 || bench.bytes > kMostBytes || bench.bytes % element_size != 0) {
    return "--size is " + std::to_string(bench.bytes) +
           " bytes, and must be 1 TiB at most and a multiple of the " +
           std::to_string(element_size) + " of a " +
           std::string(ElementTypeName(*arguments->dtype));
  }
  if (arguments->rows || !arguments->segment_offsets.empty()) {
    return "bench cuts its arrays with --segment-length alone";
  }
  const uint64_t count = bench.bytes / element_size;
  if (arguments->segment_length.has_value() && count % *arguments->segment_length != 0) {
    return "--segment-length is " + std::to_string(*arguments->segment_length) +
           ", which does not divide the " + std::to_string(count) + " elements of an array";
  }
  if (bench.concurrency == 0) bench.concurrency = arguments->connections;
  if (!bench.duration.has_value() && !bench.requests.has_value()) {
    bench.duration = std::chrono::seconds(10);
  }
  return {};
}

}  // namespace reduction::cli
