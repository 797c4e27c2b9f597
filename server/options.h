// Options of reduction-server, from the command line and the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/engine.h"

namespace reduction::server {

struct Options {
  std::vector<std::string> listen = {"127.0.0.1:50051"};
  std::string metrics = "127.0.0.1:9464";
  EngineOptions engine;
  uint64_t max_message_bytes = 16 << 20;
  uint64_t memory_limit_bytes = uint64_t{2} << 30;
  uint64_t queue = 1024;
  uint64_t drain_seconds = 20;
  uint64_t min_stream_rate = 64 << 10;  // bytes a second; 0: no limit
};

// Parses the command line. Without a value the program ends with *exit_status: 0 after --help or
// --version, 2 after a mistake, which it has told on stderr.
std::optional<Options> ParseOptions(int argc, char** argv, int* exit_status);

}  // namespace reduction::server
