// Why a request is refused, and its one conversion to grpc::Status.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <string>

namespace reduction::server {

struct Refusal {
  grpc::StatusCode code = grpc::StatusCode::INVALID_ARGUMENT;
  // Stable, UPPER_SNAKE_CASE: google.rpc.ErrorInfo.reason.
  std::string reason;
  // A sentence that names the field, the value and the limit, and says how to go on.
  std::string message;
  // The field at fault, for INVALID_ARGUMENT: google.rpc.BadRequest.
  std::string field;
  // Present when the same call may succeed later: google.rpc.RetryInfo.
  std::optional<std::chrono::milliseconds> retry_delay;
};

// An INVALID_ARGUMENT refusal.
Refusal Invalid(std::string reason, std::string field, std::string message);

grpc::Status ToStatus(const Refusal& refusal);

}  // namespace reduction::server
