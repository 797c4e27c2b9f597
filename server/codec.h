// The wire codec: splits a protobuf message into its options, which protobuf parses, and its array
// bytes, which stay in the slices that gRPC received.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <span>
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

// Where a message has array bytes and offsets of segments.
struct DataFields {
  int last_array_field = kXField;
  // Field numbers that lead to `offsets` of Segments; empty when the message has none.
  std::span<const int> offsets_path;
  // A field of the message itself that continues those; 0: none.
  int more_offsets_field = 0;
};

struct MessageData {
  ByteQueue x;
  ByteQueue y;
  bool has_x = false;  // the field was there, be it empty
  bool has_y = false;
  std::string offsets;  // of segments: packed little-endian numbers of eight bytes
};

// Parses `buffer` into `options` (everything but arrays and offsets, which stay unset) and `data`.
// Field order, repeats (of an array the last one counts), packed and unpacked numbers, merged
// messages and unknown fields are handled as protobuf does.
std::optional<Refusal> Decode(const grpc::ByteBuffer& buffer, const DataFields& fields,
                              google::protobuf::MessageLite* options, MessageData* data);

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message);

}  // namespace reduction::server
