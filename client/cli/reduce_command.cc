#include "client/cli/reduce_command.h"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/cli/input.h"
#include "client/cli/output.h"
#include "client/cli/progress_bar.h"
#include "client/cli/segments.h"

namespace reduction::cli {
namespace {

Result<std::vector<Statistic>> StatisticsOf(const Client& client, const Arguments& arguments) {
  switch (arguments.command) {
    case Command::kSum:
      return std::vector{Statistic::kSum};
    case Command::kMin:
      return std::vector{Statistic::kMin};
    case Command::kMax:
      return std::vector{Statistic::kMax};
    case Command::kDot:
      return std::vector{Statistic::kDot};
    default:
      break;
  }
  if (!arguments.statistics.empty()) return arguments.statistics;
  return AllStatistics(client);
}

Status CheckPair(const ArrayInput& x, const ArrayInput& y) {
  std::string what;
  if (x.type() != y.type()) {
    what = x.name() + " holds " + std::string(ElementTypeName(x.type())) + " and " + y.name() +
           " " + std::string(ElementTypeName(y.type())) + ": a dot product takes one type";
  } else if (x.count().has_value() && y.count().has_value() && x.count() != y.count()) {
    what = x.name() + " has " + std::to_string(*x.count()) + " elements and " + y.name() + " " +
           std::to_string(*y.count()) + ": a dot product takes one length";
  }
  const auto ordered = [](const ArrayInput& input) {
    return input.fortran_order() || input.rows() > 1;
  };
  if (what.empty() && ordered(x) && ordered(y) && x.fortran_order() != y.fortran_order()) {
    what = x.name() + " and " + y.name() +
           " store their elements in different orders, C and Fortran: save "
           "numpy.ascontiguousarray(x) of each";
  }
  if (what.empty()) return {};
  return {StatusCode::kInvalidArgument, what, {}, {}};
}

// A finished reduction and the bytes that went into it, or how it failed.
template <class Reduction>
struct Reduced {
  Reduction reduction;
  uint64_t bytes = 0;
  Outcome failure;
};

// `call` reduces the arrays in memory with these options.
template <class Call>
auto ReduceMemory(const std::vector<ArrayInput>& inputs, ReduceOptions options, const Call& call) {
  ProgressBar bar;
  options.progress = [&bar](uint64_t sent, uint64_t total) { bar.Update(sent, total); };
  auto result = call(options);
  using Done = Reduced<std::decay_t<decltype(*result)>>;
  for (const ArrayInput& input : inputs) {
    const Status unchanged = input.CheckUnchanged();
    if (!unchanged.ok()) return Done{{}, 0, Failed(unchanged)};
  }
  if (!result.ok()) return Done{{}, 0, Failed(result.status())};
  return Done{*std::move(result), inputs[0].memory()->bytes.size() * inputs.size(), {}};
}

// Reads the same range of all inputs and sends it over `stream`, until they end.
template <class Stream>
auto ReducePieces(std::vector<ArrayInput>* inputs, Result<Stream> stream) {
  using Done = Reduced<std::decay_t<decltype(*stream->Finish())>>;
  constexpr size_t kPiece = 1 << 20;
  if (!stream.ok()) return Done{{}, 0, Failed(stream.status())};
  ArrayInput& x = inputs->front();
  ArrayInput* const y = inputs->size() == 2 ? &inputs->back() : nullptr;
  ProgressBar bar;
  std::vector<std::byte> x_piece(kPiece);
  std::vector<std::byte> y_piece(y != nullptr ? kPiece : 0);
  uint64_t bytes = 0;
  for (;;) {
    const Result<size_t> x_got = x.ReadSome(x_piece);
    if (!x_got.ok()) return Done{{}, 0, Misused(x_got.status())};
    const size_t got = *x_got;
    const std::span<const std::byte> x_read = std::span(x_piece).first(got);
    std::span<const std::byte> y_read;
    if (y != nullptr) {
      // Where x ends, so must y.
      const size_t wanted = std::max(got, ElementSize(y->type()));
      const Result<size_t> y_got = y->Read(std::span(y_piece).first(wanted));
      if (!y_got.ok()) return Done{{}, 0, Misused(y_got.status())};
      if (*y_got != got) {
        return Done{{},
                    0,
                    Misused({StatusCode::kInvalidArgument,
                             x.name() + " and " + y->name() +
                                 " have different lengths: a dot product takes one length",
                             {},
                             {}})};
      }
      y_read = std::span(y_piece).first(got);
    }
    if (got == 0) break;
    const Status status = y != nullptr ? stream->Write(x_read, y_read) : stream->Write(x_read);
    if (!status.ok()) return Done{{}, 0, Failed(status)};
    bytes += got * inputs->size();
    const uint64_t total =
        x.count().has_value() ? *x.count() * ElementSize(x.type()) * inputs->size() : 0;
    bar.Update(bytes, total);
  }
  auto result = stream->Finish();
  if (!result.ok()) return Done{{}, 0, Failed(result.status())};
  return Done{*std::move(result), bytes, {}};
}

bool InMemory(const std::vector<ArrayInput>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const ArrayInput& input) { return input.memory() != nullptr; });
}

Reduced<Reduction> ReduceWhole(const Client& client, const Arguments& arguments,
                               const std::vector<Statistic>& statistics,
                               std::vector<ArrayInput>* inputs) {
  const ArrayInput& x = inputs->front();
  if (!InMemory(*inputs)) {
    return ReducePieces(inputs,
                        client.OpenStream(x.type(), statistics, arguments.options, x.count()));
  }
  return ReduceMemory(*inputs, arguments.options, [&](const ReduceOptions& options) {
    return inputs->size() == 2 ? client.Dot(*x.memory(), *inputs->back().memory(), options)
                               : client.Reduce(*x.memory(), statistics, options);
  });
}

Reduced<SegmentedReduction> ReduceSegments(const Client& client, const Arguments& arguments,
                                           const Segmentation& segments,
                                           const std::vector<Statistic>& statistics,
                                           std::vector<ArrayInput>* inputs) {
  const ArrayInput& x = inputs->front();
  if (!InMemory(*inputs)) {
    return ReducePieces(inputs, client.OpenSegmentStream(x.type(), segments, statistics,
                                                         arguments.options, x.count()));
  }
  return ReduceMemory(*inputs, arguments.options, [&](const ReduceOptions& options) {
    return inputs->size() == 2
               ? client.DotSegments(*x.memory(), *inputs->back().memory(), segments, options)
               : client.ReduceSegments(*x.memory(), segments, statistics, options);
  });
}

// What `reduce` gives, and how long it took, on standard output.
template <class Reduce>
Outcome Show(const Arguments& arguments, ElementType type, const Reduce& reduce) {
  const auto start = std::chrono::steady_clock::now();
  auto reduced = reduce();
  if (reduced.failure.exit_status != kExitOk) return reduced.failure;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const BasicReport<decltype(reduced.reduction)> report{
      arguments.command, type, std::move(reduced.reduction), seconds.count(), reduced.bytes};
  return {kExitOk, arguments.json ? FormatJson(report) : FormatText(report), {}};
}

}  // namespace

Result<std::vector<Statistic>> AllStatistics(const Client& client) {
  const Result<std::vector<ServerInfo>> servers = client.Info();
  if (!servers.ok()) return servers.status();
  std::vector<Statistic> common = servers->front().statistics;
  std::erase_if(common, [&](Statistic statistic) {
    return statistic == Statistic::kDot ||
           std::any_of(servers->begin(), servers->end(), [&](const ServerInfo& server) {
             return std::find(server.statistics.begin(), server.statistics.end(), statistic) ==
                    server.statistics.end();
           });
  });
  return common;
}

Outcome RunReduce(const Client& client, const Arguments& arguments) {
  std::vector<ArrayInput> inputs;
  for (const std::string& file : arguments.files) {
    Result<ArrayInput> input = ArrayInput::Open(file, arguments.dtype);
    if (!input.ok()) return Misused(input.status());
    inputs.push_back(*std::move(input));
  }
  if (inputs.size() == 2) {
    const Status pair = CheckPair(inputs[0], inputs[1]);
    if (!pair.ok()) return Misused(pair);
  }
  const Result<std::vector<Statistic>> statistics = StatisticsOf(client, arguments);
  if (!statistics.ok()) return Failed(statistics.status());

  const ElementType type = inputs[0].type();
  if (!arguments.has_segments()) {
    return Show(arguments, type,
                [&] { return ReduceWhole(client, arguments, *statistics, &inputs); });
  }
  const Result<ArraySegments> segments = ArraySegments::Read(arguments, inputs[0]);
  if (!segments.ok()) return Misused(segments.status());
  return Show(arguments, type, [&] {
    return ReduceSegments(client, arguments, segments->segmentation(), *statistics, &inputs);
  });
}

}  // namespace reduction::cli
