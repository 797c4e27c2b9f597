// Why the server cannot listen on an address, in words for its operator.
#pragma once

#include <string>

namespace reduction::server {

// Whether `address` is a unix:PATH at which a server answers. gRPC would take the path from it.
bool IsServedSocket(const std::string& address);

// One sentence for an `address` (host:port or unix:PATH) of the command-line option `option` that
// could not be bound: what is wrong with it and how to choose another. Tries to bind it once more
// to learn that.
std::string CannotListen(const std::string& option, const std::string& address);

}  // namespace reduction::server
