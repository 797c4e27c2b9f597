// What the commands do.
#pragma once

#include <string>

#include "client/cli/arguments.h"
#include "reduction/client.hpp"
#include "reduction/status.hpp"

namespace reduction::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // a call failed
inline constexpr int kExitUsage = 2;   // wrong command line or input

struct Outcome {
  int exit_status = kExitOk;
  std::string output;  // for standard output
  Status error;        // for standard error, unless OK
};

// Over that many connections to each server.
Result<Client> Connect(const Arguments& arguments, int connections);

// Of a call that failed, and of input that cannot be used. Segments that do not fit their array are
// such input, whoever found out.
Outcome Failed(Status status);
Outcome Misused(const Status& status);

Outcome Run(const Arguments& arguments);

}  // namespace reduction::cli
