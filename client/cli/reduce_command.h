// The commands that reduce arrays.
#pragma once

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "reduction/client.hpp"

namespace reduction::cli {

// sum, min, max, dot and stats, of whole arrays or of their segments.
Outcome RunReduce(const Client& client, const Arguments& arguments);

}  // namespace reduction::cli
