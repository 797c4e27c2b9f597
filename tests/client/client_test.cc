// What the library says without any server.
#include "reduction/client.hpp"

#include <arpa/inet.h>
#include <grpc/grpc.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "client/src/target.h"

namespace reduction {
namespace {

using std::chrono_literals::operator""ms;

Client Unreachable() {
  ClientOptions options;
  options.retries = 0;
  return *Client::Connect("127.0.0.1:1", options);
}

TEST(ParseTargets, TakesHostsWithPortsSocketsAndUris) {
  const auto targets = detail::ParseTargets(
      "localhost:1,[::1]:65535,unix:/tmp/a b,dns:///node:5,10.0.0.1:80,"
      "dns:node:5,dns://1.1.1.1/node:5,ipv4:10.0.0.1:80,ipv6:[::1]:80");
  ASSERT_TRUE(targets.ok()) << targets.status().message;
  EXPECT_EQ(targets->size(), 9u);
  EXPECT_EQ((*targets)[2], "unix:/tmp/a b");
}

TEST(ParseTargets, RefusesWhatGrpcWouldGuess) {
  for (const char* targets :
       {"", "localhost", "a:1,", ",a:1", "a:", ":1", "a:65536", "a:1x", "http://a:1", "::1",
        "a b:1", "a:123456", "dns:///node", "dns:node", "ipv4:10.0.0.1", "ipv6:[::1]"}) {
    const auto parsed = detail::ParseTargets(targets);
    EXPECT_EQ(parsed.status().code, StatusCode::kInvalidArgument) << targets;
    EXPECT_EQ(parsed.status().reason, "BAD_TARGET") << targets;
  }
}

TEST(IsLoopback, KnowsThisMachineByItsText) {
  for (const char* target :
       {"localhost:1", "127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "dns:///localhost:1",
        "dns:127.0.0.1:1", "ipv4:127.0.0.1:1", "ipv6:[::1]:1"}) {
    EXPECT_TRUE(detail::IsLoopback(target)) << target;
  }
  for (const char* target : {"node:1", "10.0.0.1:1", "localhost.example:1", "dns:///node:1",
                             "dns://127.0.0.1/node:1", "[fe80::1]:1"}) {
    EXPECT_FALSE(detail::IsLoopback(target)) << target;
  }
}

// gRPC's shutdown can wait ten seconds for a poller of its own.
TEST(Client, LeavesGrpcRunningWhenItEnds) {
  { const Client client = Unreachable(); }
  EXPECT_EQ(grpc_is_initialized(), 1);
}

TEST(Client, RefusesOptionsThatMakeNoSense) {
  ClientOptions options;
  options.connections = 0;
  EXPECT_EQ(Client::Connect("a:1", options).status().code, StatusCode::kInvalidArgument);
  options = {};
  options.retries = -1;
  EXPECT_EQ(Client::Connect("a:1", options).status().code, StatusCode::kInvalidArgument);
  options = {};
  options.tls = TlsOptions{"/no/such/file.pem"};
  EXPECT_EQ(Client::Connect("a:1", options).status().code, StatusCode::kNotFound);
}

TEST(Client, NamesTheServerThatItCannotReach) {
  const auto sum = Unreachable().Sum(std::vector<float>{1, 2});
  EXPECT_EQ(sum.status().code, StatusCode::kUnavailable);
  EXPECT_NE(sum.status().message.find("127.0.0.1:1: "), std::string::npos);
}

TEST(Client, LargeArraysFailTheSameWay) {
  ClientOptions options;
  options.retries = 0;
  options.connections = 3;
  const Client client = *Client::Connect("127.0.0.1:1,127.0.0.1:2", options);
  EXPECT_EQ(client.Sum(std::vector<int64_t>(4 << 20)).status().code, StatusCode::kUnavailable);
  const auto stream = client.OpenStream(ElementType::kFloat32, {Statistic::kSum});
  EXPECT_EQ(stream.status().code, StatusCode::kUnavailable);
  EXPECT_EQ(client.Info().status().code, StatusCode::kUnavailable);
  EXPECT_EQ(client.Serving().status().code, StatusCode::kUnavailable);
}

// A port that takes connections and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    target_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentServer() { close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  const std::string& target() const { return target_; }

 private:
  int socket_;
  std::string target_;
};

TEST(Client, GivesUpAtTheDeadline) {
  const SilentServer server;
  const Client client = *Client::Connect(server.target());
  ReduceOptions options;
  options.timeout = 20ms;
  for (const size_t count : {1, 1 << 20}) {
    const auto sum = client.Sum(std::vector<float>(count), options);
    EXPECT_EQ(sum.status().code, StatusCode::kDeadlineExceeded) << sum.status().message;
  }
}

TEST(Client, TakesEveryContiguousRange) {
  const Client client = Unreachable();
  std::array<uint8_t, 2> array = {1, 2};
  const double numbers[] = {1, 2};
  EXPECT_EQ(client.Sum(array).status().code, StatusCode::kUnavailable);
  EXPECT_EQ(client.Min(numbers).status().code, StatusCode::kUnavailable);
  EXPECT_EQ(client.Max(std::span<bfloat16>()).status().code, StatusCode::kUnavailable);
  static_assert(std::is_same_v<decltype(client.Sum(array)), Result<uint64_t>>);
  static_assert(!ElementRange<std::vector<bool>> && !ElementRange<std::string>);
}

TEST(Client, RefusesArraysThatDoNotFitEachOther) {
  const Client client = Unreachable();
  const std::vector<float> floats(3);
  const std::vector<int32_t> integers(3);
  const auto lengths = client.Dot(floats, std::vector<float>(2));
  EXPECT_EQ(lengths.status().reason, "LENGTHS_DIFFER");
  const auto types = client.Dot(ViewOf<float>(floats), ViewOf<int32_t>(integers));
  EXPECT_EQ(types.status().reason, "TYPES_DIFFER");
  const ArrayView odd{ElementType::kInt32, std::as_bytes(std::span(integers)).first(7)};
  EXPECT_EQ(client.Reduce(odd, {Statistic::kSum}).status().reason, "PARTIAL_ELEMENT");
  EXPECT_EQ(client.Reduce(floats, {}).status().reason, "NO_STATISTICS");
  EXPECT_EQ(client.Reduce(floats, {Statistic::kDot}).status().reason, "DOT_NEEDS_TWO_ARRAYS");
}

TEST(Client, SaysSoWhenItWasMovedFrom) {
  Client client = Unreachable();
  const Client moved = std::move(client);
  EXPECT_EQ(client.Sum(std::vector<float>{1}).status().reason, "MOVED_FROM");
  EXPECT_EQ(moved.Sum(std::vector<float>{1}).status().code, StatusCode::kUnavailable);
}

}  // namespace
}  // namespace reduction
