// Headers of NumPy's .npy files, versions 1 to 3 (numpy.lib.format). Files are untrusted: the
// grammar that NumPy writes is accepted, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reduction/element_type.hpp"
#include "reduction/status.hpp"

namespace reduction::cli {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
// Bytes that NpyDataOffset needs.
inline constexpr size_t kNpyPreambleBytes = 12;

// The element type of NumPy's code for a kind and bytes of an element: "f4", "u8", … bool ("b1") is
// uint8.
std::optional<ElementType> TypeOfNumPyCode(std::string_view code);

struct NpyHeader {
  ElementType type = ElementType::kFloat32;
  bool big_endian = false;
  uint64_t count = 0;  // elements; count * element size fits in 63 bits
  // Elements along the last axis, which lie side by side; 1 for a scalar. Absent in Fortran order.
  std::optional<uint64_t> row_length;
  uint64_t rows = 1;  // the product of the axes before the last one; UINT64_MAX: that or more
};

// Where the data starts, from a file's first kNpyPreambleBytes. INVALID_ARGUMENT: another version,
// or a header of more than 64 KiB.
Result<size_t> NpyDataOffset(std::string_view preamble);

// `start`: everything before the data. INVALID_ARGUMENT, with a sentence, where it is malformed, or
// its elements are not numbers that the service reduces. bool is uint8. `dtype`, when present, must
// be the file's type; bfloat16 also takes the 2-byte void type that NumPy writes for it.
Result<NpyHeader> ParseNpyHeader(std::string_view start, std::optional<ElementType> dtype);

}  // namespace reduction::cli
