// Calls of the library for segments: segments_session TARGET
//
// Prints "ok" when every way gave, for every segment, the bits of a call for that segment alone.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "reduction/client.hpp"

namespace {

using reduction::Client;
using reduction::ReduceOptions;
using reduction::Result;
using reduction::SegmentedReduction;
using reduction::SegmentLength;
using reduction::Statistic;
using reduction::StatusCode;
using reduction::Value;

const std::vector<Statistic> kStatistics = {Statistic::kSum, Statistic::kMin, Statistic::kArgmax,
                                            Statistic::kVariance, Statistic::kNanCount};

bool failed = false;

void Check(bool condition, const std::string& what) {
  if (condition) return;
  failed = true;
  std::cerr << "wrong: " << what << "\n";
}

std::string Bits(const Value& value) {
  if (const double* real = std::get_if<double>(&value)) {
    return std::string("r").append(std::to_string(std::bit_cast<uint64_t>(*real)));
  }
  if (const uint64_t* natural = std::get_if<uint64_t>(&value)) return std::to_string(*natural);
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  return "none";
}

std::string Bits(const Result<SegmentedReduction>& result) {
  if (!result.ok()) return "failed: " + result.status().message;
  std::string text = std::to_string(result->count) + ":";
  for (size_t segment = 0; segment < result->size(); ++segment) {
    text.append(" ").append(std::to_string(result->counts[segment]));
    for (const reduction::Column& column : result->columns) {
      text.append(" ").append(Bits(column.At(segment)));
    }
  }
  return text;
}

// What calls for each segment give.
std::string Alone(const Client& client, std::span<const float> numbers,
                  std::span<const uint64_t> offsets) {
  std::string text;
  uint64_t count = 0;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto segment = numbers.subspan(offsets[i], offsets[i + 1] - offsets[i]);
    text.append(" ").append(std::to_string(segment.size()));
    count += segment.size();
    for (const Statistic statistic : kStatistics) {
      const auto result = client.Reduce(segment, {statistic});
      text.append(" ").append(result.ok() ? Bits(result->values.front().value) : "none");
    }
  }
  return std::to_string(count) + ":" + text;
}

std::vector<float> Numbers(size_t count) {
  std::mt19937 random(20240801);
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    number = static_cast<float>(static_cast<int32_t>(random())) / (1 + random() % 1000);
  }
  return numbers;
}

std::string Streamed(const Client& client, std::span<const float> numbers,
                     const reduction::Segmentation& segments) {
  auto stream = client.OpenSegmentStream(reduction::ElementType::kFloat32, segments, kStatistics);
  if (!stream.ok()) return stream.status().message;
  std::span<const std::byte> rest = std::as_bytes(numbers);
  for (size_t length = 1; !rest.empty(); length = length * 3 % 1'500'003) {
    const auto piece = rest.first(std::min(length, rest.size()));
    if (!stream->Write(piece).ok()) break;
    rest = rest.subspan(piece.size());
  }
  const auto result = stream->Finish();
  if (!result.ok()) return result.status().message;
  Check(stream->Finish().status().code == StatusCode::kFailedPrecondition, "a second Finish");
  return Bits(result);
}

void CheckOffsets(const Client& client, const std::vector<uint64_t>& offsets) {
  const std::vector<float> numbers = Numbers(offsets.back());
  const std::string want = Alone(client, numbers, offsets);
  const std::string got = Bits(client.ReduceSegments(numbers, offsets, kStatistics));
  Check(got == want, "offsets gave " + got + ", and calls for each " + want);
  const std::string streamed = Streamed(client, numbers, offsets);
  Check(streamed == want, "a stream with offsets gave " + streamed + ", not " + want);
}

void CheckLength(const Client& client, uint64_t length, uint64_t rows) {
  const std::vector<float> numbers = Numbers(length * rows);
  std::vector<uint64_t> offsets(rows + 1);
  for (uint64_t row = 0; row <= rows; ++row) offsets[row] = row * length;
  const std::string want = Alone(client, numbers, offsets);
  const std::string got = Bits(client.ReduceSegments(numbers, SegmentLength{length}, kStatistics));
  Check(got == want, "rows gave " + got + ", and calls for each " + want);
  const std::string streamed = Streamed(client, numbers, SegmentLength{length});
  Check(streamed == want, "a stream of rows gave " + streamed + ", not " + want);
}

// Offsets that take several messages: sums that are known.
void CheckManyOffsets(const Client& client) {
  constexpr uint64_t kSegments = 400'000;
  std::vector<uint64_t> offsets = {0};
  for (uint64_t i = 0; i < kSegments; ++i) offsets.push_back(offsets.back() + i % 3);
  const std::vector<uint8_t> ones(offsets.back(), 1);
  const auto result = client.ReduceSegments(ones, offsets, {Statistic::kSum, Statistic::kMax});
  if (!result.ok()) return Check(false, result.status().message);
  Check(result->size() == kSegments && result->count == ones.size(), "the number of segments");
  const auto& sums = std::get<std::vector<uint64_t>>(result->Find(Statistic::kSum)->values);
  bool all = sums.size() == kSegments;
  for (uint64_t i = 0; all && i < kSegments; ++i) {
    all = sums[i] == i % 3 && result->counts[i] == i % 3 &&
          result->columns[1].IsValid(i) == (i % 3 != 0);
  }
  Check(all, "sums of many segments");
}

void CheckDot(const Client& client) {
  const std::vector<uint64_t> offsets = {0, 5, 5, 3000};
  const std::vector<float> x = Numbers(3000);
  const std::vector<float> y(x.rbegin(), x.rend());
  const auto got =
      client.DotSegments(reduction::ViewOf<float>(x), reduction::ViewOf<float>(y), offsets);
  if (!got.ok()) return Check(false, got.status().message);
  for (size_t i = 0; i < 3; ++i) {
    const size_t length = offsets[i + 1] - offsets[i];
    const auto alone = client.Dot(std::span(x).subspan(offsets[i], length),
                                  std::span(y).subspan(offsets[i], length));
    Check(alone.ok() && Bits(got->columns[0].At(i)) == Bits(Value(*alone)), "dot of a segment");
  }
}

void CheckErrors(const Client& client) {
  const std::vector<float> numbers(12);
  const auto reason = [&](const reduction::Segmentation& segments) {
    return client.ReduceSegments(numbers, segments, kStatistics).status().reason;
  };
  const std::vector<uint64_t> none, decreasing = {0, 9, 3, 12};
  Check(reason(SegmentLength{0}) == "BAD_SEGMENTS", "a length of 0");
  Check(reason(SegmentLength{5}) == "BAD_SEGMENTS", "a length that does not divide");
  Check(reason(none) == "BAD_SEGMENTS", "no offsets");
  Check(reason(std::vector<uint64_t>{0, 11}) == "BAD_SEGMENTS", "offsets that end early");
  Check(reason(decreasing) == "BAD_SEGMENTS", "offsets that decrease");
  Check(Streamed(client, numbers, decreasing).find("offsets[2] is 3") != std::string::npos,
        "offsets that decrease, in a stream");
  Check(Streamed(client, numbers, none).find("offsets") != std::string::npos,
        "a stream without offsets");
  ReduceOptions ignore;
  ignore.nan_policy = reduction::NanPolicy::kIgnore;
  const std::vector<float> nans(2, NAN);
  const auto ignored = client.ReduceSegments(nans, SegmentLength{1}, {Statistic::kArgmin}, ignore);
  Check(ignored.ok() && !ignored->columns[0].IsValid(1) && ignored->counts[1] == 0,
        "argmin of ignored NaNs");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto client = Client::Connect(argv[1]);
  if (!client.ok()) return 2;
  CheckOffsets(*client, {0, 0, 1, 4, 4, 200});
  CheckOffsets(*client, {0, 100'000, 100'000, 100'001, 700'003});
  CheckLength(*client, 7, 30);
  CheckLength(*client, 5000, 160);
  CheckManyOffsets(*client);
  CheckDot(*client);
  CheckErrors(*client);
  if (failed) return 1;
  std::cout << "ok\n";
}
