#include "client/cli/commands.h"

#include <utility>
#include <vector>

#include "client/cli/bench_command.h"
#include "client/cli/output.h"
#include "client/cli/reduce_command.h"

namespace reduction::cli {
namespace {

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

}  // namespace

Result<Client> Connect(const Arguments& arguments, int connections) {
  ClientOptions options;
  options.connections = connections;
  if (arguments.options.timeout.has_value()) options.timeout = *arguments.options.timeout;
  return Client::Connect(arguments.target, options);
}

Outcome Failed(Status status) {
  if (status.reason == "BAD_SEGMENTS") return Misused(status);
  // What a server says about itself has a reason; gRPC says that it reached none.
  if (status.code == StatusCode::kUnavailable && status.reason.empty()) {
    status.message += "; is reduction-server running there? --target=ADDR chooses another";
  }
  return {kExitFailed, {}, std::move(status)};
}

Outcome Misused(const Status& status) { return {kExitUsage, {}, status}; }

Outcome Run(const Arguments& arguments) {
  const Result<Client> client = Connect(arguments, arguments.connections);
  if (!client.ok()) return Misused(client.status());
  if (arguments.command == Command::kBench) return RunBench(arguments);
  if (arguments.command == Command::kHealth) return RunHealth(*client, arguments);
  if (arguments.command == Command::kInfo) return RunInfo(*client, arguments);
  return RunReduce(*client, arguments);
}

}  // namespace reduction::cli
