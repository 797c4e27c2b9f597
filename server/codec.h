// The wire codec: splits a protobuf message into its options, which protobuf parses, and its array
// bytes, which stay in the slices that gRPC received.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <string>

#include "server/byte_queue.h"
#include "server/refusal.h"

namespace google::protobuf {
class MessageLite;
}

namespace reduction::server {

// Field numbers of array bytes in every message that carries them.
inline constexpr int kXField = 100;
inline constexpr int kYField = 101;

// Bytes of all fields other than array bytes that one message may have.
inline constexpr size_t kMaxOptionBytes = 1 << 20;

// Parses `buffer` into `options` (everything but the array fields, which stay unset) and the bytes
// of the array fields up to field number `last_array_field`. Field order, repeats (the last one
// counts) and unknown fields are handled as protobuf does. *complete, when asked for: whether every
// array field was there, be it empty.
std::optional<Refusal> Decode(const grpc::ByteBuffer& buffer, int last_array_field,
                              google::protobuf::MessageLite* options, ByteQueue* x, ByteQueue* y,
                              bool* complete = nullptr);

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message);

}  // namespace reduction::server
