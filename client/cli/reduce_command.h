// The commands that reduce arrays.
#pragma once

#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "reduction/client.hpp"

namespace reduction::cli {

// What all servers give of one array.
Result<std::vector<Statistic>> AllStatistics(const Client& client);

// sum, min, max, dot and stats, of whole arrays or of their segments.
Outcome RunReduce(const Client& client, const Arguments& arguments);

}  // namespace reduction::cli
