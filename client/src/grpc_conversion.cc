#include "client/src/grpc_conversion.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "reduction/rpc/error_details.pb.h"

namespace reduction::detail {
namespace {

// Whether `any` holds the message `name`, and it parses.
template <class Proto>
bool Unpack(const google::protobuf::Any& any, std::string_view name, Proto* proto) {
  const std::string_view url = any.type_url();
  const size_t slash = url.rfind('/');
  if (slash == std::string_view::npos || url.substr(slash + 1) != name) return false;
  return proto->ParseFromString(any.value());
}

// The delay that a server may ask for at most; more is not believed.
constexpr int64_t kLongestDelaySeconds = 3600;

}  // namespace

grpc::ByteBuffer CopyToBuffer(const Message& message) {
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(message.head)), message.x,
                                               std::as_bytes(std::span(message.middle)), message.y};
  size_t size = 0;
  for (const auto& piece : pieces) size += piece.size();
  const grpc::Slice slice(size);
  auto* out = const_cast<uint8_t*>(slice.begin());
  for (const auto& piece : pieces) {
    if (!piece.empty()) std::memcpy(out, piece.data(), piece.size());
    out += piece.size();
  }
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer BorrowToBuffer(const Message& message, BorrowedMemory* memory) {
  std::vector<grpc::Slice> slices;
  const auto lend = [&](std::span<const std::byte> array) {
    if (array.empty()) return;
    memory->Lend();
    slices.emplace_back(const_cast<std::byte*>(array.data()), array.size(), BorrowedMemory::Return,
                        memory);
  };
  slices.emplace_back(message.head);
  lend(message.x);
  if (!message.middle.empty()) slices.emplace_back(message.middle);
  lend(message.y);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return {};
  Status result;
  const int code = status.error_code();
  const bool known = code > 0 && code <= static_cast<int>(StatusCode::kUnauthenticated);
  result.code = known ? static_cast<StatusCode>(code) : StatusCode::kUnknown;
  result.message = status.error_message();

  rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return result;
  for (const google::protobuf::Any& detail : details.details()) {
    rpc::ErrorInfo info;
    rpc::RetryInfo retry;
    if (Unpack(detail, "google.rpc.ErrorInfo", &info)) {
      result.reason = info.reason();
    } else if (Unpack(detail, "google.rpc.RetryInfo", &retry)) {
      const auto& delay = retry.retry_delay();
      const int64_t seconds = std::clamp<int64_t>(delay.seconds(), 0, kLongestDelaySeconds);
      const int64_t nanos = std::clamp<int64_t>(delay.nanos(), 0, 999'999'999);
      result.retry_delay = std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos);
    }
  }
  return result;
}

}  // namespace reduction::detail
