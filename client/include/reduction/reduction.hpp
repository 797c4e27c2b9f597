// What a call asks for and what it gives back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reduction/element_type.hpp"

namespace reduction {

// Values of these enums equal those on the wire.
enum class Statistic : uint8_t {
  kSum = 1,
  kMin = 2,
  kMax = 3,
  kArgmin = 4,  // index of the first element that holds the minimum
  kArgmax = 5,
  kMean = 6,
  kVariance = 7,
  kStandardDeviation = 8,
  kSumOfSquares = 9,
  kL1Norm = 10,
  kL2Norm = 11,
  kNanCount = 12,
  kNonzeroCount = 13,
  kDot = 14,  // of two arrays, never together with another statistic
};

// "sum", "standard_deviation", …
std::string_view StatisticName(Statistic statistic);

enum class Algorithm : uint8_t {
  kAuto = 0,
  kTwoPass = 1,  // a fixed order: the same bits always
  kAtomic = 2,   // one atomic a block: the last bits of a floating-point sum may vary
};

// "auto", "two-pass", "atomic".
std::string_view AlgorithmName(Algorithm algorithm);

struct Device {
  enum class Kind : uint8_t { kAuto = 0, kGpu = 1, kCpu = 2 };
  Kind kind = Kind::kAuto;
  std::optional<uint32_t> ordinal;  // of the GPU, any when absent; of the CPU 0
};

enum class NanPolicy : uint8_t { kPropagate = 1, kIgnore = 2 };

// What an integer sum or dot product does that does not fit in 64 bits: wrap like NumPy's, or fail
// with OUT_OF_RANGE.
enum class OverflowPolicy : uint8_t { kWrap = 1, kCheck = 2 };

struct ReduceOptions {
  Algorithm algorithm = Algorithm::kAuto;
  Device device;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow = OverflowPolicy::kWrap;
  uint64_t ddof = 0;  // variance and standard deviation divide by n - ddof

  // Time for the whole call; the client's timeouts when absent.
  std::optional<std::chrono::nanoseconds> timeout;

  // Called now and then on the calling thread while an array is streamed: bytes sent so far, and
  // bytes in all. Must not throw.
  std::function<void(uint64_t sent, uint64_t total)> progress;
};

// An array whose element type is known only at run time. Does not own `bytes`, which hold
// little-endian contiguous elements at any alignment.
struct ArrayView {
  ElementType type = ElementType::kFloat32;
  std::span<const std::byte> bytes;
};

template <Element T>
ArrayView ViewOf(std::span<const T> elements) {
  return {ElementTypeOf<T>(), std::as_bytes(elements)};
}

// monostate: argmin or argmax where every element is an ignored NaN.
using Value = std::variant<std::monostate, double, int64_t, uint64_t>;

struct StatisticValue {
  Statistic statistic;
  Value value;
};

// Where and how a part of the work ran. Times of one call can overlap.
struct Execution {
  std::string device;  // "cpu" or "cuda:N"
  Algorithm algorithm = Algorithm::kTwoPass;
  uint64_t bytes = 0;
  std::chrono::nanoseconds queued{0};
  std::chrono::nanoseconds receive{0};
  std::chrono::nanoseconds copy{0};
  std::chrono::nanoseconds kernel{0};
};

struct Reduction {
  std::vector<StatisticValue> values;  // in the order asked
  uint64_t count = 0;                  // elements that took part: ignored NaNs do not
  std::vector<Execution> executions;   // one for each device and algorithm

  // Null when `statistic` was not asked for.
  const Value* Find(Statistic statistic) const {
    for (const StatisticValue& entry : values) {
      if (entry.statistic == statistic) return &entry.value;
    }
    return nullptr;
  }
};

// Every segment has that many elements, and the array is a multiple: the length of a row.
struct SegmentLength {
  uint64_t elements = 0;
};

// How an array is cut into segments: in equal lengths, or by n + 1 element offsets for n segments,
// not decreasing, from 0 to the element count. Equal offsets are an empty segment. Does not own the
// offsets.
using Segmentation = std::variant<SegmentLength, std::span<const uint64_t>>;

// One statistic of every segment, in the order of the segments.
struct Column {
  Statistic statistic = Statistic::kSum;
  // One a segment: doubles for floats and for means, variances and norms, else 64-bit integers. 0
  // where there is no value.
  std::variant<std::vector<double>, std::vector<int64_t>, std::vector<uint64_t>> values;
  // Bit i % 8 of byte i / 8: whether segment i has a value. Empty when all have one. There is none
  // where the call for that segment alone would fail (minimum, mean, … of no elements; overflow
  // that is checked) or give none (argmin or argmax of ignored NaNs alone).
  std::vector<uint8_t> validity;

  // `segment` is below the number of segments.
  bool IsValid(size_t segment) const {
    return validity.empty() || (validity[segment / 8] >> segment % 8 & 1) != 0;
  }
  // monostate where there is no value.
  Value At(size_t segment) const {
    Value value;
    if (IsValid(segment)) {
      std::visit([&](const auto& numbers) { value = numbers[segment]; }, values);
    }
    return value;
  }
};

struct SegmentedReduction {
  std::vector<Column> columns;   // in the order asked
  std::vector<uint64_t> counts;  // one a segment: elements that took part
  uint64_t count = 0;            // of all segments
  std::vector<Execution> executions;

  // The number of segments.
  size_t size() const { return counts.size(); }
  // Null when `statistic` was not asked for.
  const Column* Find(Statistic statistic) const {
    for (const Column& column : columns) {
      if (column.statistic == statistic) return &column;
    }
    return nullptr;
  }
};

struct ServerInfo {
  struct DeviceInfo {
    std::string device;  // "cpu" or "cuda:N"
    std::string name;
    uint64_t memory_bytes = 0;
    uint32_t lanes = 0;
  };
  std::string target;
  std::string version;
  std::string instance_id;  // new with every start of the server
  uint32_t order_version = 0;
  uint32_t leaf_bytes = 0;
  std::vector<DeviceInfo> devices;
  uint64_t max_message_bytes = 0;
  uint64_t memory_limit_bytes = 0;
  uint64_t max_streams = 0;
  uint64_t max_queued_calls = 0;
  uint64_t min_stream_bytes_per_second = 0;
  std::vector<ElementType> element_types;
  std::vector<Statistic> statistics;
};

}  // namespace reduction
