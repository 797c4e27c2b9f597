#include "client/cli/random_numbers.h"

#include <cstring>
#include <random>

namespace reduction::cli {
namespace {

template <Element T>
T ElementFrom(uint64_t random) {
  if constexpr (std::is_integral_v<T>) {
    constexpr int64_t kLargest = sizeof(T) == 1 ? 100 : 1000;
    constexpr int64_t kSmallest = std::is_signed_v<T> ? -kLargest : 0;
    constexpr uint64_t kValues = kLargest - kSmallest + 1;
    return static_cast<T>(static_cast<int64_t>(random % kValues) + kSmallest);
  } else {
    constexpr int kBits = 24;  // exact in a float
    constexpr float kHalf = 1 << (kBits - 1);
    return static_cast<T>(static_cast<float>(random >> (64 - kBits)) / kHalf - 1);
  }
}

template <Element T>
std::vector<std::byte> Numbers(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count * sizeof(T));
  for (uint64_t i = 0; i < count; ++i) {
    const T element = ElementFrom<T>(random());
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> RandomNumbers(ElementType type, uint64_t count, uint64_t seed) {
  switch (type) {
    case ElementType::kFloat16:
      return Numbers<float16>(count, seed);
    case ElementType::kBfloat16:
      return Numbers<bfloat16>(count, seed);
    case ElementType::kFloat32:
      return Numbers<float>(count, seed);
    case ElementType::kFloat64:
      return Numbers<double>(count, seed);
    case ElementType::kInt8:
      return Numbers<int8_t>(count, seed);
    case ElementType::kInt16:
      return Numbers<int16_t>(count, seed);
    case ElementType::kInt32:
      return Numbers<int32_t>(count, seed);
    case ElementType::kInt64:
      return Numbers<int64_t>(count, seed);
    case ElementType::kUint8:
      return Numbers<uint8_t>(count, seed);
    case ElementType::kUint16:
      return Numbers<uint16_t>(count, seed);
    case ElementType::kUint32:
      return Numbers<uint32_t>(count, seed);
    case ElementType::kUint64:
      break;
  }
  return Numbers<uint64_t>(count, seed);
}

}  // namespace reduction::cli
