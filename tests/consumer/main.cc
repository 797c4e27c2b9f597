// Uses the installed package: consumer TARGETS
//
// Sends the same array as one message, one stream, parts over several connections, and pieces.
// Prints "ok" when every way gave the same bits and every refusal was a status.
#include <cstdint>
#include <cstring>
#include <iostream>
#include <optional>
#include <reduction/client.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

using reduction::Client;
using reduction::Reduction;
using reduction::Result;
using reduction::Statistic;
using reduction::StatusCode;

const std::vector<Statistic> kStatistics = {
    Statistic::kSum,      Statistic::kMin,  Statistic::kMax,         Statistic::kArgmin,
    Statistic::kVariance, Statistic::kMean, Statistic::kSumOfSquares};

#ifdef __SIZEOF_INT128__
static_assert(!reduction::Element<__int128> && !reduction::Element<unsigned __int128>);
#endif

bool failed = false;

void Check(bool condition, const std::string& what) {
  if (condition) return;
  failed = true;
  std::cerr << "wrong: " << what << "\n";
}

// The values' bits, as text.
std::string Bits(const Result<Reduction>& result) {
  if (!result.ok()) return "failed: " + result.status().message;
  std::string text = std::to_string(result->count);
  for (const reduction::StatisticValue& entry : result->values) {
    uint64_t bits = 0;
    if (const double* real = std::get_if<double>(&entry.value)) {
      std::memcpy(&bits, real, sizeof(bits));
    } else if (const uint64_t* index = std::get_if<uint64_t>(&entry.value)) {
      bits = *index;
    }
    text += " " + std::to_string(bits);
  }
  return text;
}

// Numbers of many magnitudes and both signs.
std::vector<float> Numbers(size_t count) {
  std::vector<float> numbers(count);
  uint32_t state = 1;
  for (float& number : numbers) {
    state = state * 1664525 + 1013904223;
    const float magnitude = static_cast<float>(1u << (state >> 28));
    number = (static_cast<float>(state & 0xffff) - 32768.5f) * magnitude;
  }
  return numbers;
}

void CheckStream(const Client& client, std::span<const float> numbers, const std::string& want) {
  auto stream = client.OpenStream(reduction::ElementType::kFloat32, kStatistics);
  if (!stream) return Check(false, "OpenStream: " + stream.status().message);
  // Pieces of many lengths, most of them ending inside an element.
  std::span<const std::byte> rest = std::as_bytes(numbers);
  for (size_t length = 1; !rest.empty(); length = length * 3 % 2'500'003) {
    const auto piece = rest.first(std::min(length, rest.size()));
    if (!stream->Write(piece).ok()) break;
    rest = rest.subspan(piece.size());
  }
  const std::string got = Bits(stream->Finish());
  Check(got == want, "pieces gave " + got + ", one message " + want);
  Check(stream->Finish().status().code == StatusCode::kFailedPrecondition, "a second Finish");
  for (const size_t count : {size_t{1}, numbers.size()}) {
    Check(stream->Write(numbers.first(count)).code == StatusCode::kFailedPrecondition,
          "Write after Finish");
  }
}

void CheckSameBits(const std::string& targets, size_t count) {
  const std::vector<float> numbers = Numbers(count);
  std::optional<std::string> want;
  for (const int connections : {1, 2, 5}) {
    reduction::ClientOptions options;
    options.connections = connections;
    const auto client = Client::Connect(targets, options);
    if (!client) return Check(false, "Connect: " + client.status().message);
    const std::string got = Bits(client->Reduce(numbers, kStatistics));
    if (!want.has_value()) want = got;
    Check(got == *want,
          std::to_string(connections) + " connections gave " + got + ", one " + *want);
    CheckStream(*client, numbers, *want);
  }
}

void CheckTyped(const std::string& targets) {
  const auto client = Client::Connect(targets);
  if (!client) return Check(false, "Connect: " + client.status().message);
  const std::vector<int32_t> integers = {3, -4, 5};
  const auto sum = client->Sum(integers);
  Check(sum.ok() && *sum == 4, "Sum");
  const auto largest = client->Max(std::vector<uint8_t>{1, 255, 7});
  Check(largest.ok() && *largest == 255, "Max");
  const auto dot = client->Dot(integers, integers);
  Check(dot.ok() && *dot == 50, "Dot");

  const auto empty = client->Min(std::vector<double>{});
  Check(empty.status().code == StatusCode::kInvalidArgument, "Min of no elements");
  Check(empty.status().reason == "EMPTY_ARRAY", "reason: " + empty.status().reason);
  const auto serving = client->Serving();
  Check(serving.ok() && *serving, "Serving");
  const auto info = client->Info();
  Check(info.ok() && !info->empty() && !info->front().devices.empty(), "Info");
}

void CheckUnreachable() {
  reduction::ClientOptions options;
  options.retries = 1;
  const auto client = Client::Connect("127.0.0.1:1", options);
  if (!client) return Check(false, "Connect: " + client.status().message);
  const auto sum = client->Sum(std::vector<float>{1});
  Check(sum.status().code == StatusCode::kUnavailable, "Sum without a server");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer TARGETS\n";
    return 2;
  }
  CheckTyped(argv[1]);
  for (const size_t count : {1'000, 300'000, 9'000'001}) CheckSameBits(argv[1], count);
  CheckUnreachable();
  if (failed) return 1;
  std::cout << "ok\n";
}
