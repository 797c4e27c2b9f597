// Requests to bytes, and bytes to results. Knows the .proto; knows nothing of connections.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/src/message.h"
#include "reduction/reduction.hpp"
#include "reduction/status.hpp"

namespace reduction::detail {

// What every message of a call has in common.
struct Request {
  ElementType type = ElementType::kFloat32;
  std::vector<Statistic> statistics;  // {kDot}: of two arrays
  ReduceOptions options;
  std::optional<Segmentation> segments;  // their offsets are borrowed

  // Empty where there are none.
  std::span<const uint64_t> offsets() const {
    if (!segments || !std::holds_alternative<std::span<const uint64_t>>(*segments)) return {};
    return std::get<std::span<const uint64_t>>(*segments);
  }
  bool is_dot() const { return statistics.size() == 1 && statistics[0] == Statistic::kDot; }
};

// OK, or INVALID_ARGUMENT where the statistics cannot be asked for together.
Status CheckStatistics(const std::vector<Statistic>& statistics);

// How many segments an array of `elements` has; INVALID_ARGUMENT where they do not fit it. The
// server checks what is between the first offset and the last.
Result<uint64_t> CountSegments(const Segmentation& segments, uint64_t elements);

// Whether Reduce serves the request in one message, rather than a method of its statistic.
bool UsesReduce(const Request& request);

struct UnaryRequest {
  std::string_view method;  // "/reduction.v1.Reduction/Sum", …
  Message message;
};

// The whole request in one message, its offsets included. `y` is empty unless request.is_dot(),
// which no request with segments may be.
UnaryRequest EncodeUnary(const Request& request, std::span<const std::byte> x,
                         std::span<const std::byte> y);

// The part of a larger array that a stream carries.
struct StreamPart {
  uint64_t first_element = 0;
  bool return_partial = false;
};

// The first message of a stream: the header, without offsets of segments, and the first bytes.
Message EncodeStreamHeader(const Request& request, const StreamPart& part,
                           std::optional<uint64_t> element_count, std::span<const std::byte> x,
                           std::span<const std::byte> y);
// A message with offsets of segments: after the header, before data.
Message EncodeOffsets(std::span<const uint64_t> offsets);
// A later message. `offset`: bytes of each array that came before.
Message EncodeChunk(uint64_t offset, std::span<const std::byte> x, std::span<const std::byte> y,
                    bool is_dot);

// The answer to a request without partial. INTERNAL when it does not answer `request`.
Result<Reduction> DecodeUnary(const Request& request, std::string_view response);
// DATA_LOSS when it is about another number of bytes than the `array_bytes` of each array that were
// sent: gRPC reports a stream that is cut inside a message as one that ended.
Result<Reduction> DecodeStream(const Request& request, uint64_t array_bytes,
                               std::string_view response);

// The answer about an array of `segments` segments; DATA_LOSS likewise.
Result<SegmentedReduction> DecodeSegments(const Request& request, uint64_t array_bytes,
                                          uint64_t segments, std::string_view response);

// The answer to a part.
struct PartialResponse {
  std::string partial;
  std::vector<Execution> executions;
};
Result<PartialResponse> DecodePartialResponse(std::string_view response);

Result<ServerInfo> DecodeServerInfo(std::string_view response);

// grpc.health.v1: the request for this service, and whether an answer says SERVING.
Message EncodeHealthCheck();
Result<bool> DecodeHealthCheck(std::string_view response);

inline constexpr std::string_view kReduceStreamMethod = "/reduction.v1.Reduction/ReduceStream";
inline constexpr std::string_view kServerInfoMethod = "/reduction.v1.Reduction/GetServerInfo";
inline constexpr std::string_view kHealthCheckMethod = "/grpc.health.v1.Health/Check";

// Adds up executions of one device and algorithm.
std::vector<Execution> MergeExecutions(const std::vector<Execution>& executions);

}  // namespace reduction::detail
