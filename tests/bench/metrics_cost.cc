// What the metrics of a tiny call cost, beside the whole call. metrics_cost.py runs this and draws
// the ratio; the call needs a server, whose address is in REDUCTION_TARGET.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <reduction/client.hpp>
#include <vector>

#include "server/metrics.h"
#include "server/rpc.h"

namespace reduction::server {
namespace {

// The metrics of a server.
struct Counted {
  Counted() {
    kernels::DeviceInfo info;
    info.label = "cpu";
    device = metrics.AddDevice(info);
    method = metrics.AddMethod({"unary", "reduction.v1.Reduction", "Sum"});
  }

  Metrics metrics;
  CallRegistry calls{0};
  DeviceMetrics* device;
  MethodMetrics* method;
};

Counted& Shared() {
  static Counted counted;
  return counted;
}

// What UnaryCall does when it reduces at once, without the call. RpcRecord's share includes the
// registry of calls, which a drain needs.
void MetricsOfATinyCall(benchmark::State& state) {
  Counted& counted = Shared();
  ReductionSpec spec;
  spec.plan.type = kernels::ElementType::kFloat32;
  int64_t now_ns = SteadyNanos();
  for (auto _ : state) {
    RpcRecord record(*counted.method, counted.calls);
    counted.metrics.CountReceived(Source::kInline, 20);
    now_ns += 50'000;
    counted.device->AddBusy(Link::kCopy, std::array{kernels::Interval{now_ns, now_ns + 100}});
    counted.device->AddBusy(Link::kKernel,
                            std::array{kernels::Interval{now_ns + 100, now_ns + 400}});
    counted.device->CountReduced(spec, Source::kInline, 16, 4);
    ObserveStages(*counted.device, {0, 0, 100, 300});
    benchmark::DoNotOptimize(record.Ended(grpc::Status::OK));
  }
}
BENCHMARK(MetricsOfATinyCall)->Threads(1)->Threads(2);

// Sum of four numbers over one connection, from the client's call to its answer.
void TinyCall(benchmark::State& state) {
  const char* const target = getenv("REDUCTION_TARGET");
  auto client = Client::Connect(target == nullptr ? "127.0.0.1:50051" : target);
  const std::vector<float> values = {1, 2, 3, 4};
  for (auto _ : state) {
    const auto sum = client.ok() ? client->Sum(values) : client.status();
    if (!sum.ok() || *sum != 10) {
      state.SkipWithError("the server gives no sum, or a wrong one");
      break;
    }
  }
}
BENCHMARK(TinyCall)->UseRealTime();

}  // namespace
}  // namespace reduction::server

BENCHMARK_MAIN();
