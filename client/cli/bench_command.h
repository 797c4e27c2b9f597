// The command bench.
#pragma once

#include "client/cli/arguments.h"
#include "client/cli/commands.h"

namespace reduction::cli {

// Puts load on the servers until enough calls or time are over, or a signal comes, and gives what
// it measured. The connections are divided among the calls in flight, so that each has its own, or
// several calls share one.
Outcome RunBench(const Arguments& arguments);

}  // namespace reduction::cli
