// The life of the server: starting → serving → draining → exit.
#pragma once

#include "server/options.h"

namespace reduction::server {

// Serves until SIGTERM or SIGINT, then drains. Returns the exit status: 0 after a drain, 1 when the
// server cannot start or loses a device. Blocks those signals in every thread made from now on.
int RunServer(const Options& options);

}  // namespace reduction::server
