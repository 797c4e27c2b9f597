// Names and sizes of the public enums, and the 16-bit floats.
#include <cmath>
#include <cstring>

#include "kernels/element_type.h"
#include "kernels/statistics.h"
#include "reduction/element_type.hpp"
#include "reduction/reduction.hpp"
#include "reduction/status.hpp"

namespace reduction {
namespace {

uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

size_t ElementSize(ElementType type) {
  return kernels::ElementSize(static_cast<kernels::ElementType>(type));
}

std::string_view ElementTypeName(ElementType type) {
  return kernels::ElementTypeName(static_cast<kernels::ElementType>(type));
}

std::string_view StatisticName(Statistic statistic) {
  return kernels::StatisticName(static_cast<kernels::Statistic>(statistic));
}

std::string_view AlgorithmName(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kAuto:
      return "auto";
    case Algorithm::kTwoPass:
      return "two-pass";
    case Algorithm::kAtomic:
      return "atomic";
  }
  return "unknown";
}

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kUnknown:
      return "UNKNOWN";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    case StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case StatusCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case StatusCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case StatusCode::kAborted:
      return "ABORTED";
    case StatusCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case StatusCode::kInternal:
      return "INTERNAL";
    case StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case StatusCode::kDataLoss:
      return "DATA_LOSS";
    case StatusCode::kUnauthenticated:
      return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

float16::operator float() const { return kernels::ToFloat(kernels::Float16{bits}); }
bfloat16::operator float() const { return kernels::ToFloat(kernels::Bfloat16{bits}); }

float16::float16(float value) {
  const uint32_t source = BitsOf(value);
  const auto sign = static_cast<uint16_t>((source >> 16) & 0x8000u);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) {
    bits = sign | 0x7e00u;
  } else if (magnitude >= 65520.0f) {  // halfway from the largest binary16 to the next power of two
    bits = sign | 0x7c00u;
  } else if (magnitude < 0x1p-14f) {
    // Subnormal: a multiple of 2^-24. Adding 0.5 leaves that many bits, rounded to nearest even.
    bits = static_cast<uint16_t>(sign | (BitsOf(magnitude + 0.5f) - BitsOf(0.5f)));
  } else {
    const uint32_t magnitude_bits = source & 0x7fffffffu;
    const uint32_t rounded = magnitude_bits + 0xfffu + ((magnitude_bits >> 13) & 1u);
    bits = static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
  }
}

bfloat16::bfloat16(float value) {
  const uint32_t source = BitsOf(value);
  if (std::isnan(value)) {
    bits = static_cast<uint16_t>((source >> 16) | 0x40u);
  } else {
    bits = static_cast<uint16_t>((source + 0x7fffu + ((source >> 16) & 1u)) >> 16);
  }
}

}  // namespace reduction
