// Between gRPC's types and ours.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <string>

#include "client/src/borrowed_memory.h"
#include "client/src/message.h"
#include "reduction/status.hpp"

namespace reduction::detail {

// Copies the whole message.
grpc::ByteBuffer CopyToBuffer(const Message& message);

// Refers to the message's arrays, which `memory` counts as lent until gRPC let go of them.
grpc::ByteBuffer BorrowToBuffer(const Message& message, BorrowedMemory* memory);

std::string ToString(const grpc::ByteBuffer& buffer);

// Reads the details that the server attached.
Status ToStatus(const grpc::Status& status);

}  // namespace reduction::detail
