// What a Client is made of: its servers, their connections, and what is known of them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/src/array_stream.h"
#include "client/src/connection.h"
#include "client/src/wire.h"
#include "reduction/client.hpp"

namespace reduction::detail {

// Array bytes of one message at most: larger ones are not faster.
inline constexpr uint64_t kMessageBytes = 1 << 20;

class Target {
 public:
  Target(std::string name, const ClientOptions& options, const std::string& root_certificates);

  const std::string& name() const { return name_; }
  const Connection& connection(int index) const { return *connections_[index]; }

  // A small call, repeated as the options allow. Thread-safe.
  Status Call(int connection, std::string_view method, const Message& message, int retries,
              Deadline deadline, std::string* response) const;

  // Asked once, then remembered. Thread-safe.
  Result<ServerInfo> Info(int retries, Deadline deadline) const;
  // Asks again next time: the server may have been replaced. Thread-safe.
  void ForgetInfo() const;

 private:
  std::string name_;
  std::vector<std::unique_ptr<Connection>> connections_;
  mutable std::mutex mutex_;
  mutable std::optional<ServerInfo> info_;
};

// Thread-safe.
class ClientState {
 public:
  ClientState(const std::vector<std::string>& targets, const ClientOptions& options,
              const std::string& root_certificates);

  const ClientOptions& options() const { return options_; }
  const std::vector<std::unique_ptr<Target>>& targets() const { return targets_; }

  // A connection for one call: each in turn.
  struct Route {
    const Target* target;
    int connection;
  };
  Route NextRoute() const;

  // Array bytes that one message to `target` may carry.
  Result<uint64_t> MessageBytes(const Target& target, Deadline deadline) const;

  // The whole call: one message, one stream, or parts over all connections.
  Result<Reduction> Reduce(const Request& request, const Arrays& arrays) const;
  // The same for a request with segments, over one connection.
  Result<SegmentedReduction> ReduceSegments(const Request& request, const Arrays& arrays) const;

  Deadline StreamDeadline(const ReduceOptions& options) const;

 private:
  // At the latest at `deadline`, and within the client's own timeout.
  Result<ServerInfo> InfoOf(const Target& target, Deadline deadline) const;
  Status CallUnary(const Route& route, const Request& request, const Arrays& arrays,
                   Deadline deadline, std::string* response) const;
  Status CallStream(const Route& route, const Request& request, const Arrays& arrays,
                    uint64_t message_bytes, Deadline deadline, std::string* response) const;
  Result<Reduction> ReduceUnary(const Route& route, const Request& request, const Arrays& arrays,
                                Deadline deadline) const;
  Result<Reduction> ReduceWhole(const Route& route, const Request& request, const Arrays& arrays,
                                uint64_t message_bytes, Deadline deadline) const;
  Result<Reduction> ReduceOverAll(const Request& request, const Arrays& arrays, uint64_t part_bytes,
                                  Deadline deadline) const;
  Deadline UnaryDeadline(const ReduceOptions& options) const;

  const ClientOptions options_;
  std::vector<std::unique_ptr<Target>> targets_;
  mutable std::atomic<size_t> next_route_ = 0;
};

}  // namespace reduction::detail
