// reduction-server: wiring only.
#include <malloc.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "server/options.h"
#include "server/server.h"

namespace {

// gRPC allocates and frees 64 KiB slices at the rate of the network: keep that memory instead of
// giving it back to the kernel each time. Worth a factor of two. In one arena: each would keep what
// its threads freed, and the process would grow to several times the memory limit.
void TuneAllocator() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
}

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  TuneAllocator();
  RaiseFileLimit();
  std::signal(SIGPIPE, SIG_IGN);
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);  // what matters is in our own log
  int exit_status = 0;
  const auto options = reduction::server::ParseOptions(argc, argv, &exit_status);
  if (!options) return exit_status;
  spdlog::set_default_logger(spdlog::stderr_logger_mt("server"));
  spdlog::set_pattern("ts=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
  spdlog::flush_on(spdlog::level::info);
  return reduction::server::RunServer(*options);
}
