#include "server/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <map>
#include <string_view>

#include "server/version.h"

namespace reduction::server {
namespace {

// The validators of addresses: empty, or what is wrong.
std::string CheckHostAndPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* const end = address.data() + address.size();
    const auto parsed = std::from_chars(address.data() + colon + 1, end, port);
    if (parsed.ptr != end || parsed.ec != std::errc()) port = -1;
  }
  if (port >= 0 && port <= UINT16_MAX) return "";
  return address + " is not host:port with a port of 0 to 65535";
}

std::string CheckListenAddress(const std::string& address) {
  return address.rfind("unix:", 0) == 0 ? "" : CheckHostAndPort(address);
}

// The library that serves metrics takes IPv4 alone.
std::string CheckMetricsAddress(const std::string& address) {
  std::string wrong = CheckHostAndPort(address);
  if (!wrong.empty()) return wrong;
  const std::string_view host = std::string_view(address).substr(0, address.rfind(':'));
  if (!host.empty() && host.find(':') == std::string_view::npos) return "";
  return address + " has no IPv4 address or name before its port; 0.0.0.0:PORT is every address";
}

// Puts the number of a DeviceMode in place of its name. Empty, or what is wrong.
std::string ToDeviceMode(std::string& name) {
  static const std::map<std::string, DeviceMode> modes = {
      {"auto", DeviceMode::kAuto}, {"cpu", DeviceMode::kCpu}, {"cuda", DeviceMode::kCuda}};
  const auto mode = modes.find(name);
  if (mode == modes.end()) return name + " is not auto, cpu or cuda";
  name = std::to_string(static_cast<int>(mode->second));
  return "";
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, int* exit_status) {
  Options options;
  CLI::App app{
      "Reduces arrays of numbers on GPUs, or on the CPU, for clients that send them over gRPC."};
  app.set_version_flag("--version", kVersion);
  app.add_option("--listen", options.listen,
                 "Addresses to serve on, comma-separated: host:port or unix:PATH; port 0 takes a "
                 "free one")
      ->delimiter(',')
      ->check(CLI::Validator(CheckListenAddress, "ADDR"))
      ->envname("REDUCTION_LISTEN")
      ->capture_default_str();
  app.add_option("--metrics", options.metrics,
                 "IPv4 address of the Prometheus metrics (host:port); keep it private")
      ->check(CLI::Validator(CheckMetricsAddress, "ADDR"))
      ->envname("REDUCTION_METRICS")
      ->capture_default_str();
  app.add_option("--device", options.engine.mode,
                 "auto: every visible GPU, else the CPU; cpu: no GPU; cuda: fail without a GPU")
      ->transform(CLI::Validator(ToDeviceMode, ""))
      ->type_name("auto|cpu|cuda")
      ->envname("REDUCTION_DEVICE")
      ->default_str("auto");
  app.add_option("--lanes", options.engine.lanes_per_gpu, "Lanes (CUDA streams) of each GPU")
      ->check(CLI::Range(1, 64))
      ->envname("REDUCTION_LANES")
      ->capture_default_str();
  const CLI::AsSizeValue size(/*kb_is_1000=*/false);
  // Asked before `size`, which makes a large number of a negative one.
  const CLI::Validator natural(
      [](std::string& text) {
        return text.starts_with('-') ? text + " is negative" : std::string();
      },
      "");
  app.add_option("--max-message", options.max_message_bytes,
                 "Array bytes that one message may carry, in bytes or like 16MiB")
      ->transform(size)
      ->transform(natural)
      ->check(CLI::Range(uint64_t{64} << 10, uint64_t{512} << 20))
      ->envname("REDUCTION_MAX_MESSAGE")
      ->capture_default_str();
  app.add_option("--memory-limit", options.memory_limit_bytes,
                 "Memory for received messages and staging, in bytes or like 2GiB")
      ->transform(size)
      ->transform(natural)
      ->envname("REDUCTION_MEMORY_LIMIT")
      ->capture_default_str();
  app.add_option("--queue", options.queue, "Calls that may wait for a lane of a device")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20))
      ->envname("REDUCTION_QUEUE")
      ->capture_default_str();
  app.add_option("--drain", options.drain_seconds,
                 "Seconds that running calls have to finish after SIGTERM")
      ->check(CLI::Range(uint64_t{0}, uint64_t{3600}))
      ->envname("REDUCTION_DRAIN")
      ->capture_default_str();
  app.add_option("--min-stream-rate", options.min_stream_rate,
                 "Bytes a second below which a stream is ended, measured in whole messages over "
                 "10 s of waiting for its client; 0: never")
      ->transform(size)
      ->transform(natural)
      ->envname("REDUCTION_MIN_STREAM_RATE")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      *exit_status = app.exit(error);  // --help and --version
    } else {
      std::string message = error.what();
      std::replace(message.begin(), message.end(), '\n', ' ');
      std::cerr << "error: " << message << "; reduction-server --help lists the options\n";
      *exit_status = 2;
    }
    return std::nullopt;
  }
  return options;
}

}  // namespace reduction::server
