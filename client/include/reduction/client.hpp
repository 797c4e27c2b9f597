// Client of the reduction service.
//
// Calls return a Result or a Status; they never print, abort or throw, memory exhaustion apart.
// Array memory must stay unchanged until a call returns and is not referred to afterwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reduction/element_type.hpp"
#include "reduction/reduction.hpp"
#include "reduction/status.hpp"

namespace reduction {

struct TlsOptions {
  // PEM file with the certificates that sign the server's; the system's when empty.
  std::string root_certificates;
};

struct ClientOptions {
  // Connections to each target. A large array is split over all of them, as far as the servers take
  // that many streams at once.
  int connections = 1;
  // Time for a call whose data fits one message, and for info and health.
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  // Time for a call that streams its data.
  std::chrono::nanoseconds stream_timeout = std::chrono::hours(24);
  // How often a call whose data fits one message is repeated when a server is unavailable, or asks
  // to come back. Streamed calls are never repeated.
  int retries = 4;
  // Without it connections are not encrypted.
  std::optional<TlsOptions> tls;
};

namespace detail {

class ClientState;
class WriterState;
struct Request;

// The C++ element type of a contiguous range.
template <class Range>
using ElementOf =
    std::remove_cv_t<typename decltype(std::span(std::declval<Range&>()))::element_type>;

// `result`'s single value as T; INTERNAL when the server sent another type.
template <class T>
Result<T> SingleValue(const Result<Reduction>& result) {
  if (!result.ok()) return result.status();
  if (!result->values.empty()) {
    if (const T* value = std::get_if<T>(&result->values.front().value)) return *value;
  }
  return Status{StatusCode::kInternal, "the server's value has an unexpected type", {}, {}};
}

}  // namespace detail

// Contiguous ranges of elements: std::vector<T>, std::span<const T>, std::array, …
template <class Range>
concept ElementRange = requires(const Range& range) {
  std::span(range);
  requires Element<detail::ElementOf<const Range>>;
};

// An array that is sent as it is produced. Destroying it unfinished cancels the call. Not
// thread-safe; movable. One connection carries it. The server ends a stream that is slower than its
// --min-stream-rate, or from which nothing came for ten seconds: DEADLINE_EXCEEDED, reason
// STREAM_TOO_SLOW.
class ArrayWriter {
 public:
  // Appends bytes; an element may be split between two calls. Copies them, and waits while the
  // server is slower than the producer. A failed stream fails every later Write the same way.
  Status Write(std::span<const std::byte> bytes);
  // For a dot product: the same range of both arrays, of one length.
  Status Write(std::span<const std::byte> x, std::span<const std::byte> y);

  template <ElementRange Range>
  Status Write(const Range& elements) {
    const ArrayView view = ViewOf(std::span<const detail::ElementOf<const Range>>(elements));
    return WriteTyped(view);
  }

 protected:
  explicit ArrayWriter(std::unique_ptr<detail::WriterState> state);
  ArrayWriter(ArrayWriter&&) noexcept;
  ArrayWriter& operator=(ArrayWriter&&) noexcept;
  ~ArrayWriter();
  std::unique_ptr<detail::WriterState> state_;

 private:
  Status WriteTyped(const ArrayView& view);
};

class ReduceStream : public ArrayWriter {
 public:
  // Ends the array and waits for its statistics. Call once.
  Result<Reduction> Finish();

 private:
  friend class Client;
  using ArrayWriter::ArrayWriter;
};

class SegmentStream : public ArrayWriter {
 public:
  // Ends the array and waits for the statistics of its segments. Call once.
  Result<SegmentedReduction> Finish();

 private:
  friend class Client;
  using ArrayWriter::ArrayWriter;
};

// Thread-safe; movable. All calls block until they are done or their time is over. gRPC ends no
// call while the system still holds a write of its bytes: a peer that is frozen can keep a call 20
// s longer over TCP, and over a Unix socket until it goes on or dies.
class Client {
 public:
  // `targets`: one or more servers, separated by commas: "host:port", "unix:PATH" or a gRPC URI
  // such as "dns:///name:port". Arrays are split over all of them. Connections are made when first
  // needed, so an unreachable server shows in the calls. INVALID_ARGUMENT: a malformed target or
  // option; NOT_FOUND: no readable certificate file.
  static Result<Client> Connect(std::string_view targets, const ClientOptions& options = {});

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Sum of an array: float64 for floats, exact 64-bit integers for integers. Of no elements: 0.
  template <ElementRange Range>
  Result<ValueOf<detail::ElementOf<const Range>>> Sum(const Range& array,
                                                      const ReduceOptions& options = {}) const {
    return Single(Statistic::kSum, array, options);
  }

  // Smallest and largest element. A NaN anywhere gives NaN unless NaNs are ignored; -0 orders below
  // +0. INVALID_ARGUMENT for no elements.
  template <ElementRange Range>
  Result<ValueOf<detail::ElementOf<const Range>>> Min(const Range& array,
                                                      const ReduceOptions& options = {}) const {
    return Single(Statistic::kMin, array, options);
  }
  template <ElementRange Range>
  Result<ValueOf<detail::ElementOf<const Range>>> Max(const Range& array,
                                                      const ReduceOptions& options = {}) const {
    return Single(Statistic::kMax, array, options);
  }

  // Dot product of two arrays of one length and type.
  template <ElementRange Range, ElementRange OtherRange>
  requires std::is_same_v<detail::ElementOf<const Range>, detail::ElementOf<const OtherRange>>
      Result<ValueOf<detail::ElementOf<const Range>>> Dot(const Range& x, const OtherRange& y,
                                                          const ReduceOptions& options = {})
  const {
    using T = detail::ElementOf<const Range>;
    return detail::SingleValue<ValueOf<T>>(
        Dot(ViewOf(std::span<const T>(x)), ViewOf(std::span<const T>(y)), options));
  }
  Result<Reduction> Dot(const ArrayView& x, const ArrayView& y,
                        const ReduceOptions& options = {}) const;

  // Any set of statistics of one array, in one pass.
  template <ElementRange Range>
  Result<Reduction> Reduce(const Range& array, const std::vector<Statistic>& statistics,
                           const ReduceOptions& options = {}) const {
    using T = detail::ElementOf<const Range>;
    return Reduce(ViewOf(std::span<const T>(array)), statistics, options);
  }
  Result<Reduction> Reduce(const ArrayView& array, const std::vector<Statistic>& statistics,
                           const ReduceOptions& options = {}) const;

  // Any set of statistics of each segment of one array, in one pass: the same bits as Reduce of
  // each segment. One connection carries the array and its offsets. A segment without a result is
  // an invalid entry, no failure. INVALID_ARGUMENT (BAD_SEGMENTS): segments that do not fit the
  // array; RESOURCE_EXHAUSTED: more results than the server has room for, or than 2 GiB.
  template <ElementRange Range>
  Result<SegmentedReduction> ReduceSegments(const Range& array, const Segmentation& segments,
                                            const std::vector<Statistic>& statistics,
                                            const ReduceOptions& options = {}) const {
    using T = detail::ElementOf<const Range>;
    return ReduceSegments(ViewOf(std::span<const T>(array)), segments, statistics, options);
  }
  Result<SegmentedReduction> ReduceSegments(const ArrayView& array, const Segmentation& segments,
                                            const std::vector<Statistic>& statistics,
                                            const ReduceOptions& options = {}) const;

  // Dot product of each segment of two arrays of one length and type, cut at the same places.
  Result<SegmentedReduction> DotSegments(const ArrayView& x, const ArrayView& y,
                                         const Segmentation& segments,
                                         const ReduceOptions& options = {}) const;

  // Opens a stream for an array that is produced in pieces. `statistics` is {kDot} for a dot
  // product. `element_count`, when known, is checked by the server. Progress is not reported.
  Result<ReduceStream> OpenStream(ElementType type, const std::vector<Statistic>& statistics,
                                  const ReduceOptions& options = {},
                                  std::optional<uint64_t> element_count = {}) const;

  // The same for an array of segments. The offsets are sent before this returns.
  Result<SegmentStream> OpenSegmentStream(ElementType type, const Segmentation& segments,
                                          const std::vector<Statistic>& statistics,
                                          const ReduceOptions& options = {},
                                          std::optional<uint64_t> element_count = {}) const;

  // What each target is and can do, in the order of the targets.
  Result<std::vector<ServerInfo>> Info() const;

  // Whether every target serves. A server that cannot be asked is an error.
  Result<bool> Serving() const;

 private:
  explicit Client(std::shared_ptr<const detail::ClientState> state);

  Result<std::unique_ptr<detail::WriterState>> OpenWriter(
      detail::Request request, std::optional<uint64_t> element_count) const;

  template <class Range>
  Result<ValueOf<detail::ElementOf<const Range>>> Single(Statistic statistic, const Range& array,
                                                         const ReduceOptions& options) const {
    return detail::SingleValue<ValueOf<detail::ElementOf<const Range>>>(
        Reduce(array, {statistic}, options));
  }

  std::shared_ptr<const detail::ClientState> state_;
};

}  // namespace reduction
