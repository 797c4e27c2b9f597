// The metrics of the RPCs that gRPC answers itself: health and reflection.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <vector>

#include "server/metrics.h"

namespace reduction::server {

// Interceptors that count those RPCs, for grpc::ServerBuilder. `metrics` outlives the server.
std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
CountLibraryRpcs(Metrics& metrics);

}  // namespace reduction::server
