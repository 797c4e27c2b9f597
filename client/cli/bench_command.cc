#include "client/cli/bench_command.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/bench_load.h"
#include "client/cli/bench_report.h"
#include "client/cli/reduce_command.h"
#include "client/cli/stop_signal.h"
#include "client/src/retry.h"
#include "reduction/client.hpp"

namespace reduction::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The clients over which calls go. Each has seen its servers, which also opened connections.
Result<std::vector<Client>> ConnectAll(const Arguments& arguments) {
  const int count = std::min(arguments.connections, arguments.bench.concurrency);
  std::vector<Client> clients;
  for (int i = 0; i < count; ++i) {
    const int share = arguments.connections / count + (i < arguments.connections % count);
    Result<Client> client = Connect(arguments, share);
    if (!client.ok()) return client.status();
    const auto servers = client->Info();
    if (!servers.ok()) return servers.status();
    clients.push_back(*std::move(client));
  }
  return clients;
}

class BenchRun {
 public:
  BenchRun(const BenchArguments& bench, BenchLoad* load)
      : load_(*load),
        requests_(bench.requests.value_or(UINT64_MAX)),
        rate_(bench.rate),
        end_(bench.duration ? start_ + *bench.duration : Clock::time_point::max()) {}

  // Makes calls, one after the other, until the run is over.
  BenchTally Work(const Client& client) {
    BenchTally tally;
    int failures = 0;  // since the last call that succeeded
    Status last;
    for (;;) {
      const uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
      if (number >= requests_) break;
      const Clock::time_point due = DueTime(number);
      Clock::time_point begin = due;
      if (failures > 0) {
        begin =
            std::max(due, Clock::now() + detail::RetryDelay(failures - 1, detail::Jitter(), last));
      }
      if (stop_.WaitUntil(std::min(begin, end_)) || Clock::now() >= end_) break;
      const Clock::time_point from = rate_ ? due : Clock::now();
      const EndedCall call = load_.Call(client, number);
      tally.Add(call, Clock::now() - from);
      last = call.status;
      failures = last.ok() ? 0 : failures + 1;
    }
    return tally;
  }

  void Stop() const { stop_.Stop(); }
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Clock::time_point DueTime(uint64_t number) const {
    if (!rate_) return start_;
    constexpr double kLongestSeconds = 1e9;
    return start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                        std::min(static_cast<double>(number) / *rate_, kLongestSeconds)));
  }

  const StopSignal stop_;
  BenchLoad& load_;
  const uint64_t requests_;
  const std::optional<double> rate_;
  const Clock::time_point start_ = Clock::now();
  const Clock::time_point end_;
  std::atomic<uint64_t> next_ = 0;
};

BenchTally WorkAtOnce(const std::vector<Client>& clients, int concurrency, BenchRun* run) {
  BenchTally all;
  std::vector<std::future<BenchTally>> workers;
  try {
    for (int i = 0; i < concurrency; ++i) {
      const Client& client = clients[i % clients.size()];
      workers.push_back(std::async(std::launch::async, [=, &client] { return run->Work(client); }));
    }
    for (auto& worker : workers) all.Merge(worker.get());
  } catch (...) {
    run->Stop();  // or the other workers would have to be waited for
    throw;
  }
  return all;
}

Status FailureOf(const BenchTally& tally) {
  const std::string of_all = " of " + std::to_string(tally.calls()) + " ";
  if (tally.wrong_answers > 0) {
    return {StatusCode::kDataLoss,
            std::to_string(tally.wrong_answers) + of_all +
                "answers differ from the first one to the same call",
            {},
            {}};
  }
  if (!tally.failure) return {};
  Status status = *tally.failure;
  status.message = std::to_string(tally.failed()) + of_all + "calls failed; one: " + status.message;
  return status;
}

}  // namespace

Outcome RunBench(const Arguments& arguments) {
  Result<std::vector<Client>> clients = ConnectAll(arguments);
  if (!clients.ok()) return Failed(clients.status());
  std::vector<Statistic> statistics = arguments.statistics;
  if (statistics.empty()) {
    Result<std::vector<Statistic>> all = AllStatistics(clients->front());
    if (!all.ok()) return Failed(all.status());
    statistics = *std::move(all);
  }
  BenchLoad load(arguments, statistics);
  BenchRun run(arguments.bench, &load);
  const BenchTally tally = WorkAtOnce(*clients, arguments.bench.concurrency, &run);
  const double seconds = run.Seconds();
  const Status failure = FailureOf(tally);
  Outcome outcome = failure.ok() ? Outcome{} : Failed(failure);
  outcome.output = arguments.json ? FormatJson(arguments, tally, seconds)
                                  : FormatText(arguments, tally, seconds);
  return outcome;
}

}  // namespace reduction::cli
