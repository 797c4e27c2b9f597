#include "server/server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <poll.h>
#include <prometheus/exposer.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>

#include "server/bind_error.h"
#include "server/library_rpcs.h"
#include "server/service.h"
#include "server/version.h"

namespace reduction::server {
namespace {

constexpr char kServiceName[] = "reduction.v1.Reduction";

// SIGTERM, SIGINT, or a lost device: what ends serving.
class StopEvents {
 public:
  StopEvents() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC);
    lost_fd_ = eventfd(0, EFD_CLOEXEC);
  }
  ~StopEvents() {
    close(signal_fd_);
    close(lost_fd_);
  }
  StopEvents(const StopEvents&) = delete;
  StopEvents& operator=(const StopEvents&) = delete;

  void DeviceLost() const { eventfd_write(lost_fd_, 1); }

  // Waits; true for a signal, false for a lost device.
  bool WaitForSignal() const {
    pollfd fds[] = {{signal_fd_, POLLIN, 0}, {lost_fd_, POLLIN, 0}};
    while (poll(fds, 2, -1) < 0) {
    }
    return (fds[1].revents & POLLIN) == 0;
  }

 private:
  int signal_fd_;
  int lost_fd_;
};

std::string NewInstanceId() {
  std::random_device random;
  char id[33];
  snprintf(id, sizeof(id), "%08x%08x%08x%08x", random(), random(), random(), random());
  return id;
}

// Fields of the log line's event: key=value, quoted by the caller where values may hold spaces.
void LogError(const std::string& event, const std::string& message) {
  spdlog::error("event={} message=\"{}\"", event, message);
}

std::unique_ptr<prometheus::Exposer> StartExposer(const std::string& address, std::string* error) {
  // Every open connection takes a thread: many, so that idle ones cannot delay a scrape.
  const std::vector<std::string> options = {"listening_ports",    address, "num_threads", "128",
                                            "request_timeout_ms", "2000"};
  try {
    return std::make_unique<prometheus::Exposer>(options);
  } catch (const std::exception&) {  // it speaks of civetweb's insides
    *error = CannotListen("--metrics", address);
    return nullptr;
  }
}

struct Listener {
  std::unique_ptr<grpc::Server> server;
  std::vector<std::string> addresses;  // with the ports that were taken for port 0
};

Listener StartListening(const Options& options, const Admission& admission, Metrics& metrics,
                        grpc::Service* service, std::string* error) {
  Listener listener;
  const auto served = std::find_if(options.listen.begin(), options.listen.end(), IsServedSocket);
  if (served != options.listen.end()) {
    *error = CannotListen("--listen", *served);
    return listener;
  }
  grpc::ServerBuilder builder;
  std::vector<int> ports(options.listen.size(), -1);
  for (size_t i = 0; i < options.listen.size(); ++i) {
    builder.AddListeningPort(options.listen[i], grpc::InsecureServerCredentials(), &ports[i]);
  }
  builder.RegisterService(service);
  builder.experimental().SetInterceptorCreators(CountLibraryRpcs(metrics));
  // Above our own limit, so that most refusals are ours and say how to go on.
  builder.SetMaxReceiveMessageSize(static_cast<int>(2 * admission.limits().max_message_bytes));
  builder.SetResourceQuota(admission.quota());
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 64);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);

  listener.server = builder.BuildAndStart();
  if (listener.server == nullptr) {
    // gRPC stops at the first address that it cannot take and leaves its port as it was.
    const auto taken = std::find(ports.begin(), ports.end(), -1);
    *error =
        CannotListen("--listen", options.listen[taken == ports.end() ? 0 : taken - ports.begin()]);
    return listener;
  }
  for (size_t i = 0; i < options.listen.size(); ++i) {
    std::string address = options.listen[i];
    if (address.rfind("unix:", 0) != 0) {
      address = address.substr(0, address.rfind(':') + 1) + std::to_string(ports[i]);
    }
    listener.addresses.push_back(address);
  }
  return listener;
}

void Drain(const Options& options, grpc::Server& server, Admission& admission,
           CallRegistry& calls) {
  spdlog::info("event=draining seconds={}", options.drain_seconds);
  admission.StartDraining();
  calls.StartDraining();
  server.GetHealthCheckService()->SetServingStatus(kServiceName, false);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(options.drain_seconds);
  if (!calls.WaitUntilIdle(deadline)) {
    spdlog::warn("event=drain_expired");
    calls.FinishStreams(Draining());
    calls.WaitUntilIdle(std::chrono::steady_clock::now() + std::chrono::seconds(1));
  }
  // Health watches never end by themselves.
  server.Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
}

}  // namespace

int RunServer(const Options& options) {
  const StopEvents stop;  // first of all: it blocks signals for the threads to come
  // gRPC runs for the rest of the process: its shutdown would wait, up to ten seconds, for a poller
  // that a blocked write of a large response started.
  grpc_init();
  std::string error;
  Metrics metrics;
  const auto exposer = StartExposer(options.metrics, &error);
  if (exposer == nullptr) {
    LogError("start_failed", error);
    return 1;
  }
  for (const auto& collectable : metrics.collectables()) exposer->RegisterCollectable(collectable);

  auto engine = Engine::Create(
      options.engine, metrics, [&stop] { stop.DeviceLost(); }, &error);
  if (engine == nullptr) {
    LogError("start_failed", error);
    return 1;
  }
  const AdmissionLimits limits{options.max_message_bytes, options.memory_limit_bytes,
                               engine->staging_bytes(), options.queue};
  if (!limits.Sensible()) {
    LogError("start_failed", "--memory-limit is " + std::to_string(limits.memory_limit_bytes) +
                                 " bytes, too little for staging (" +
                                 std::to_string(limits.staging_bytes) +
                                 ") and messages (the larger of 128 MiB and " +
                                 std::to_string(limits.stream_bytes()) +
                                 "); raise it, or lower --max-message or --lanes");
    return 1;
  }
  Admission admission(limits, metrics);
  CallRegistry calls(options.min_stream_rate);
  const std::string instance_id = NewInstanceId();
  const Rooms rooms{*engine, admission, metrics, calls};
  const auto service = CreateService(rooms, options, instance_id);

  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  Listener listener = StartListening(options, admission, metrics, service.get(), &error);
  if (listener.server == nullptr) {
    LogError("start_failed", error);
    return 1;
  }
  listener.server->GetHealthCheckService()->SetServingStatus(kServiceName, true);
  for (const auto& pool : engine->pools()) {
    spdlog::info("event=device device={} name=\"{}\" lanes={} staging_bytes={}", pool->info().label,
                 pool->info().name, pool->lane_count(), pool->staging_bytes());
  }
  std::string addresses;
  for (const std::string& address : listener.addresses) {
    addresses += (addresses.empty() ? "" : ",") + address;
  }
  const std::string metrics_host = options.metrics.substr(0, options.metrics.rfind(':') + 1);
  spdlog::info("event=serving version={} instance={} listen={} metrics={}{}", kVersion, instance_id,
               addresses, metrics_host, exposer->GetListeningPorts().front());

  const bool clean = stop.WaitForSignal();
  if (clean) {
    Drain(options, *listener.server, admission, calls);
  } else {
    // The calls on that device fail by themselves; there is nothing to wait for.
    LogError("device_lost", "a device is lost; exiting for a restart");
    admission.StartDraining();
    calls.StartDraining();
    listener.server->GetHealthCheckService()->SetServingStatus(kServiceName, false);
    calls.WaitUntilIdle(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    listener.server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  }
  // Lanes may still work for calls that have ended, and these refer to all that was made above.
  listener.server.reset();
  engine.reset();
  spdlog::info("event=exit status={}", clean ? 0 : 1);
  return clean ? 0 : 1;
}

}  // namespace reduction::server
