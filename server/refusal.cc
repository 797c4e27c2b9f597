#include "server/refusal.h"

#include <utility>

#include "reduction/rpc/error_details.pb.h"

namespace reduction::server {
namespace {

// Packs a message that is on the wire like google.rpc.`name`.
void AddDetail(const google::protobuf::MessageLite& message, const char* name,
               reduction::rpc::Status* status) {
  google::protobuf::Any* any = status->add_details();
  any->set_type_url(std::string("type.googleapis.com/google.rpc.") + name);
  any->set_value(message.SerializeAsString());
}

}  // namespace

Refusal Invalid(std::string reason, std::string field, std::string message) {
  return {grpc::StatusCode::INVALID_ARGUMENT, std::move(reason), std::move(message),
          std::move(field), std::nullopt};
}

grpc::Status ToStatus(const Refusal& refusal) {
  reduction::rpc::Status status;
  status.set_code(refusal.code);
  status.set_message(refusal.message);

  reduction::rpc::ErrorInfo info;
  info.set_reason(refusal.reason);
  info.set_domain("reduction");
  AddDetail(info, "ErrorInfo", &status);
  if (!refusal.field.empty()) {
    reduction::rpc::BadRequest bad_request;
    auto* violation = bad_request.add_field_violations();
    violation->set_field(refusal.field);
    violation->set_description(refusal.message);
    AddDetail(bad_request, "BadRequest", &status);
  }
  if (refusal.retry_delay) {
    reduction::rpc::RetryInfo retry;
    const auto milliseconds = refusal.retry_delay->count();
    retry.mutable_retry_delay()->set_seconds(milliseconds / 1000);
    retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(milliseconds % 1000) * 1000000);
    AddDetail(retry, "RetryInfo", &status);
  }
  return grpc::Status(refusal.code, refusal.message, status.SerializeAsString());
}

}  // namespace reduction::server
