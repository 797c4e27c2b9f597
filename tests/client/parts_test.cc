// Parts of an array, cut at random leaves and sent over several connections, combine to the bits of
// the array as one request. Needs a server: REDUCTION_TARGET.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/src/array_stream.h"
#include "client/src/combine.h"
#include "client/src/connection.h"
#include "kernels/fixed_order.h"
#include "reduction/client.hpp"
#include "tests/random_array.h"
#include "tests/test_environment.h"
#include "tests/wide_array.h"

namespace reduction::testing {
namespace {

using detail::Arrays;
using detail::PartResult;

constexpr int kConnections = 3;

std::string Target() {
  const char* const target = std::getenv("REDUCTION_TARGET");
  return target == nullptr ? "" : target;
}

// Every value with all its bits.
std::string Bits(const Result<Reduction>& result) {
  if (!result.ok()) return "failed: " + result.status().message;
  std::ostringstream text;
  text << result->count << " elements";
  for (const StatisticValue& entry : result->values) {
    text << "; " << StatisticName(entry.statistic) << ' ' << entry.value.index() << ' ' << std::hex;
    if (const double* real = std::get_if<double>(&entry.value)) {
      text << kernels::BitCast<uint64_t>(*real);
    } else if (const int64_t* integer = std::get_if<int64_t>(&entry.value)) {
      text << *integer;
    } else if (const uint64_t* natural = std::get_if<uint64_t>(&entry.value)) {
      text << *natural;
    }
    text << std::dec;
  }
  return text.str();
}

std::vector<Statistic> StatisticsOfOneArray() {
  std::vector<Statistic> statistics;
  for (const kernels::Statistic statistic : kernels::kAllStatistics) {
    if (statistic != kernels::Statistic::kDot) {
      statistics.push_back(static_cast<Statistic>(statistic));
    }
  }
  return statistics;
}

// Numbers of many magnitudes; with kMixed some of them NaNs (of floats) or limits (of integers).
std::vector<std::byte> Numbers(kernels::ElementType type, size_t count, bool mixed,
                               std::mt19937_64& random) {
  std::vector<std::byte> bytes = WideArray(type, count, random);
  if (!mixed) return bytes;
  const size_t size = kernels::ElementSize(type);
  const std::vector<std::byte> other = RandomArray(type, Filling::kMixed, count, random);
  for (size_t run = 0; run < 40; ++run) {
    const size_t at = random() % count;
    const size_t length = std::min<size_t>(random() % 1000, count - at);
    std::copy_n(other.begin() + static_cast<ptrdiff_t>(at * size), length * size,
                bytes.begin() + static_cast<ptrdiff_t>(at * size));
  }
  return bytes;
}

class Parts : public ::testing::TestWithParam<kernels::ElementType> {
 protected:
  void SetUp() override {
    ASSERT_NE(Target(), "") << "REDUCTION_TARGET must name a server";
    const ClientOptions options;
    for (int i = 0; i < kConnections; ++i) {
      connections_.push_back(std::make_unique<detail::Connection>(Target(), i, options, ""));
    }
  }

  size_t element_size() const { return kernels::ElementSize(GetParam()); }

  // Leaf-aligned parts of random lengths, in random order.
  std::vector<PartResult> Cut(uint64_t elements) {
    const uint64_t leaf = kernels::kLeafBytes / element_size();
    const uint64_t leaves = (elements + leaf - 1) / leaf;
    std::vector<uint64_t> edges = {0, elements};
    for (uint64_t cuts = random_() % 8; cuts > 0; --cuts)
      edges.push_back(random_() % leaves * leaf);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::vector<PartResult> parts;
    for (size_t i = 0; i + 1 < edges.size(); ++i) {
      parts.push_back({edges[i], edges[i + 1] - edges[i], {}});
    }
    std::shuffle(parts.begin(), parts.end(), random_);
    return parts;
  }

  Status Send(const detail::Connection& connection, const detail::Request& request,
              const Arrays& arrays, uint64_t message_bytes, PartResult* part) {
    const Arrays slice =
        arrays.Slice(part->first_element * element_size(), part->element_count * element_size());
    const auto call = connection.OpenStream(detail::kReduceStreamMethod,
                                            detail::DeadlineAfter(std::chrono::seconds(60)));
    std::string response;
    const Status status = detail::SendArrays(
        call.get(), request, {part->first_element, true}, slice, message_bytes, [](uint64_t) {},
        &response);
    if (!status.ok()) return status;
    Result<detail::PartialResponse> partial = detail::DecodePartialResponse(response);
    if (!partial.ok()) return partial.status();
    part->response = *std::move(partial);
    return {};
  }

  // The array in random parts, over all connections at the same time.
  Result<Reduction> InParts(const detail::Request& request, const Arrays& arrays) {
    std::vector<PartResult> parts = Cut(arrays.x.size() / element_size());
    const uint64_t message_bytes = 1000 + random_() % 300'000;
    std::vector<Status> statuses(parts.size());
    std::vector<std::thread> threads;
    for (size_t worker = 0; worker < kConnections; ++worker) {
      threads.emplace_back([&, worker] {
        for (size_t i = worker; i < parts.size(); i += kConnections) {
          statuses[i] = Send(*connections_[worker], request, arrays, message_bytes, &parts[i]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& status : statuses) {
      if (!status.ok()) return status;
    }
    return detail::CombineParts(request, std::move(parts));
  }

  // As one request, and in a few random splits.
  void ExpectTheSameBits(const detail::Request& request, const Arrays& arrays) {
    const Client client = *Client::Connect(Target());
    const ArrayView x{request.type, arrays.x};
    const Result<Reduction> whole = request.is_dot()
                                        ? client.Dot(x, {request.type, arrays.y}, request.options)
                                        : client.Reduce(x, request.statistics, request.options);
    ASSERT_TRUE(whole.ok()) << whole.status().message;
    ASSERT_EQ(whole->values.size(), request.statistics.size());
    for (int split = 0; split < 4; ++split) {
      ASSERT_EQ(Bits(InParts(request, arrays)), Bits(whole)) << "split " << split;
    }
  }

  detail::Request RequestFor(std::vector<Statistic> statistics, NanPolicy policy) {
    detail::Request request;
    request.type = static_cast<ElementType>(GetParam());
    request.statistics = std::move(statistics);
    request.options.nan_policy = policy;
    request.options.ddof = random_() % 3;
    return request;
  }

  std::mt19937_64 random_{TestSeed() + static_cast<uint64_t>(GetParam())};
  std::vector<std::unique_ptr<detail::Connection>> connections_;
};

INSTANTIATE_TEST_SUITE_P(Types, Parts, ::testing::ValuesIn(kernels::kAllElementTypes),
                         [](const auto& info) {
                           return std::string(kernels::ElementTypeName(info.param));
                         });

// 37 leaves travel as one message, 150 as a stream.
TEST_P(Parts, GiveTheBitsOfTheWholeForEveryStatistic) {
  SCOPED_TRACE(SeedTrace());
  for (const uint64_t leaves : {37, 150}) {
    const size_t count = leaves * kernels::kLeafBytes / element_size() + random_() % 1000 + 1;
    for (const bool mixed : {false, true}) {
      const auto x = Numbers(GetParam(), count, mixed, random_);
      for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        ExpectTheSameBits(RequestFor(StatisticsOfOneArray(), policy), {x, {}});
      }
    }
  }
}

TEST_P(Parts, GiveTheBitsOfEachStatisticAlone) {
  SCOPED_TRACE(SeedTrace());
  const size_t count = 20 * kernels::kLeafBytes / element_size() + 5;
  const auto x = Numbers(GetParam(), count, true, random_);
  for (const Statistic statistic : StatisticsOfOneArray()) {
    ExpectTheSameBits(RequestFor({statistic}, NanPolicy::kIgnore), {x, {}});
  }
}

TEST_P(Parts, GiveTheBitsOfTheWholeDot) {
  SCOPED_TRACE(SeedTrace());
  const size_t count = 75 * kernels::kLeafBytes / element_size() + random_() % 1000 + 1;
  for (const bool mixed : {false, true}) {
    const auto x = Numbers(GetParam(), count, mixed, random_);
    const auto y = Numbers(GetParam(), count, mixed, random_);
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      ExpectTheSameBits(RequestFor({Statistic::kDot}, policy), {x, y});
    }
  }
}

// The client's own parts, which are of some MiB.
TEST_P(Parts, OfTheClientGiveTheBitsOfOneConnection) {
  SCOPED_TRACE(SeedTrace());
  const size_t count = (size_t{9} << 20) / element_size() + 3;
  const auto bytes = Numbers(GetParam(), count, true, random_);
  const ArrayView x{static_cast<ElementType>(GetParam()), bytes};
  ReduceOptions ignore;
  ignore.nan_policy = NanPolicy::kIgnore;
  ClientOptions several;
  several.connections = kConnections;
  const Client one = *Client::Connect(Target());
  const Client many = *Client::Connect(Target(), several);
  const auto whole = one.Reduce(x, StatisticsOfOneArray(), ignore);
  ASSERT_TRUE(whole.ok()) << whole.status().message;
  EXPECT_EQ(Bits(many.Reduce(x, StatisticsOfOneArray(), ignore)), Bits(whole));
}

}  // namespace
}  // namespace reduction::testing
