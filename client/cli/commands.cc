#include "client/cli/commands.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "client/cli/input.h"
#include "client/cli/output.h"
#include "client/cli/progress_bar.h"
#include "reduction/client.hpp"

namespace reduction::cli {
namespace {

Outcome Failed(Status status) {
  // What a server says about itself has a reason; gRPC says that it reached none.
  if (status.code == StatusCode::kUnavailable && status.reason.empty()) {
    status.message += "; is reduction-server running there? --target=ADDR chooses another";
  }
  return {kExitFailed, {}, std::move(status)};
}
Outcome Misused(const Status& status) { return {kExitUsage, {}, status}; }

Result<Client> Connect(const Arguments& arguments) {
  ClientOptions options;
  options.connections = arguments.connections;
  if (arguments.options.timeout.has_value()) options.timeout = *arguments.options.timeout;
  return Client::Connect(arguments.target, options);
}

Outcome RunHealth(const Client& client, const Arguments& arguments) {
  const Result<bool> serving = client.Serving();
  if (!serving.ok()) return Failed(serving.status());
  return {*serving ? kExitOk : kExitFailed, FormatHealth(*serving, arguments.json), {}};
}

Outcome RunInfo(const Client& client, const Arguments& arguments) {
  const Result<std::vector<ServerInfo>> servers = client.Info();
  if (!servers.ok()) return Failed(servers.status());
  return {kExitOk, FormatInfo(*servers, arguments.json), {}};
}

// Everything that all servers give of one array.
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
  if (what.empty()) return {};
  return {StatusCode::kInvalidArgument, what, {}, {}};
}

// A finished reduction and the bytes that went into it, or how it failed.
struct Reduced {
  Reduction reduction;
  uint64_t bytes = 0;
  Outcome failure;
};

Reduced ReduceMemory(const Client& client, const std::vector<ArrayInput>& inputs,
                     const std::vector<Statistic>& statistics, ReduceOptions options) {
  ProgressBar bar;
  options.progress = [&bar](uint64_t sent, uint64_t total) { bar.Update(sent, total); };
  const ArrayView& x = *inputs[0].memory();
  Result<Reduction> result = inputs.size() == 2 ? client.Dot(x, *inputs[1].memory(), options)
                                                : client.Reduce(x, statistics, options);
  for (const ArrayInput& input : inputs) {
    const Status unchanged = input.CheckUnchanged();
    if (!unchanged.ok()) return {{}, 0, Failed(unchanged)};
  }
  if (!result.ok()) return {{}, 0, Failed(result.status())};
  return {*std::move(result), x.bytes.size() * inputs.size(), {}};
}

// Reads the same range of all inputs and sends it, until they end.
Reduced ReducePieces(const Client& client, std::vector<ArrayInput>* inputs,
                     const std::vector<Statistic>& statistics, const ReduceOptions& options) {
  constexpr size_t kPiece = 1 << 20;
  ArrayInput& x = inputs->front();
  ArrayInput* const y = inputs->size() == 2 ? &inputs->back() : nullptr;
  Result<ReduceStream> stream = client.OpenStream(x.type(), statistics, options, x.count());
  if (!stream.ok()) return {{}, 0, Failed(stream.status())};
  ProgressBar bar;
  std::vector<std::byte> x_piece(kPiece);
  std::vector<std::byte> y_piece(y != nullptr ? kPiece : 0);
  uint64_t bytes = 0;
  for (size_t got = kPiece; got == kPiece;) {
    const Result<size_t> x_got = x.Read(x_piece);
    if (!x_got.ok()) return {{}, 0, Misused(x_got.status())};
    got = *x_got;
    const std::span<const std::byte> x_read = std::span(x_piece).first(got);
    Status status;
    if (y != nullptr) {
      const Result<size_t> y_got = y->Read(y_piece);
      if (!y_got.ok()) return {{}, 0, Misused(y_got.status())};
      if (*y_got != got) {
        return {{},
                0,
                Misused({StatusCode::kInvalidArgument,
                         x.name() + " and " + y->name() +
                             " have different lengths: a dot product takes one length",
                         {},
                         {}})};
      }
      status = stream->Write(x_read, std::span(y_piece).first(got));
    } else {
      status = stream->Write(x_read);
    }
    if (!status.ok()) return {{}, 0, Failed(status)};
    bytes += got * inputs->size();
    const uint64_t total =
        x.count().has_value() ? *x.count() * ElementSize(x.type()) * inputs->size() : 0;
    bar.Update(bytes, total);
  }
  Result<Reduction> result = stream->Finish();
  if (!result.ok()) return {{}, 0, Failed(result.status())};
  return {*std::move(result), bytes, {}};
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

  const auto start = std::chrono::steady_clock::now();
  const bool in_memory = std::all_of(inputs.begin(), inputs.end(), [](const ArrayInput& input) {
    return input.memory() != nullptr;
  });
  Reduced reduced = in_memory ? ReduceMemory(client, inputs, *statistics, arguments.options)
                              : ReducePieces(client, &inputs, *statistics, arguments.options);
  if (reduced.failure.exit_status != kExitOk) return reduced.failure;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Report report{arguments.command, inputs[0].type(), std::move(reduced.reduction),
                      seconds.count(), reduced.bytes};
  return {kExitOk, arguments.json ? FormatJson(report) : FormatText(report), {}};
}

}  // namespace

Outcome Run(const Arguments& arguments) {
  const Result<Client> client = Connect(arguments);
  if (!client.ok()) return Misused(client.status());
  if (arguments.command == Command::kHealth) return RunHealth(*client, arguments);
  if (arguments.command == Command::kInfo) return RunInfo(*client, arguments);
  return RunReduce(*client, arguments);
}

}  // namespace reduction::cli
