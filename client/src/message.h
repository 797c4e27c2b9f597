// A message as it goes on the wire: a few bytes of protobuf fields, and arrays that stay where the
// caller has them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace reduction::detail {

// The bytes on the wire are head, x, middle, y, one after the other. Does not own x and y.
struct Message {
  std::string head;  // fields, ending with the tag and length of x
  std::span<const std::byte> x;
  std::string middle;  // tag and length of y; empty when there is none
  std::span<const std::byte> y;

  size_t payload_bytes() const { return x.size() + y.size(); }
};

}  // namespace reduction::detail
