// Server addresses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reduction/status.hpp"

namespace reduction::detail {

// "A,B,…" to addresses that gRPC takes. INVALID_ARGUMENT for an empty address and for a host
// without a port, which gRPC would take to mean port 443, be it in a "dns:" URI.
Result<std::vector<std::string>> ParseTargets(std::string_view targets);

// Whether a target that ParseTargets gave is this machine by its text, be it a literal address or
// "localhost".
bool IsLoopback(std::string_view target);

}  // namespace reduction::detail
