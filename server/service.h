// The gRPC service: one reactor for each call.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <string>

#include "server/options.h"
#include "server/rpc.h"

namespace reduction::server {

// The service with all its methods. `rooms` and `options` must outlive it.
std::unique_ptr<grpc::Service> CreateService(Rooms rooms, const Options& options,
                                             const std::string& instance_id);

}  // namespace reduction::server
