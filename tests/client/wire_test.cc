#include "client/src/wire.h"

#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reduction/v1/reduction.pb.h"

namespace reduction::detail {
namespace {

std::string Join(const Message& message) {
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  return message.head + text(message.x) + message.middle + text(message.y);
}

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

Request MakeRequest(std::vector<Statistic> statistics) {
  Request request;
  request.type = ElementType::kInt32;
  request.statistics = std::move(statistics);
  request.options.algorithm = Algorithm::kAtomic;
  request.options.device = {Device::Kind::kGpu, 3};
  request.options.nan_policy = NanPolicy::kIgnore;
  request.options.overflow = OverflowPolicy::kCheck;
  request.options.ddof = 1;
  return request;
}

TEST(EncodeUnary, IsAnArrayRequestForSumMinAndMax) {
  const std::string x(300, 'x');
  const UnaryRequest unary = EncodeUnary(MakeRequest({Statistic::kSum}), Bytes(x), {});
  EXPECT_EQ(unary.method, "/reduction.v1.Reduction/Sum");
  v1::ArrayRequest proto;
  ASSERT_TRUE(proto.ParseFromString(Join(unary.message)));
  EXPECT_EQ(proto.element_type(), v1::ELEMENT_TYPE_INT32);
  EXPECT_EQ(proto.options().algorithm(), v1::ALGORITHM_ATOMIC);
  EXPECT_EQ(proto.options().device().kind(), v1::Device::KIND_GPU);
  EXPECT_EQ(proto.options().device().ordinal(), 3u);
  EXPECT_EQ(proto.options().nan_policy(), v1::NAN_POLICY_IGNORE);
  EXPECT_EQ(proto.options().overflow(), v1::OVERFLOW_POLICY_CHECK);
  EXPECT_EQ(proto.options().ddof(), 1u);
  EXPECT_EQ(proto.inline_(), x);
  EXPECT_TRUE(proto.GetReflection()->GetUnknownFields(proto).empty());
}

TEST(EncodeUnary, IsAReduceRequestForOtherSets) {
  const std::string x(8, 'x');
  const UnaryRequest unary =
      EncodeUnary(MakeRequest({Statistic::kMean, Statistic::kSum}), Bytes(x), {});
  EXPECT_EQ(unary.method, "/reduction.v1.Reduction/Reduce");
  v1::ReduceRequest proto;
  ASSERT_TRUE(proto.ParseFromString(Join(unary.message)));
  EXPECT_EQ(proto.statistics_size(), 2);
  EXPECT_EQ(proto.statistics(0), v1::STATISTIC_MEAN);
  EXPECT_EQ(proto.inline_(), x);
}

TEST(EncodeUnary, CarriesBothArraysOfADot) {
  const std::string x(200, 'x'), y(200, 'y');
  const UnaryRequest unary = EncodeUnary(MakeRequest({Statistic::kDot}), Bytes(x), Bytes(y));
  EXPECT_EQ(unary.method, "/reduction.v1.Reduction/Dot");
  v1::DotRequest proto;
  ASSERT_TRUE(proto.ParseFromString(Join(unary.message)));
  EXPECT_EQ(proto.x_inline(), x);
  EXPECT_EQ(proto.y_inline(), y);
  EXPECT_TRUE(proto.GetReflection()->GetUnknownFields(proto).empty());
}

TEST(EncodeUnary, NamesTheSourceOfEmptyArrays) {
  v1::DotRequest proto;
  ASSERT_TRUE(
      proto.ParseFromString(Join(EncodeUnary(MakeRequest({Statistic::kDot}), {}, {}).message)));
  EXPECT_EQ(proto.x_source_case(), v1::DotRequest::kXInline);
  EXPECT_EQ(proto.y_source_case(), v1::DotRequest::kYInline);
}

TEST(EncodeUnary, CarriesSegmentsAndTheirOffsets) {
  const std::string x(300, 'x');
  const std::vector<uint64_t> offsets = {0, 70, 75};
  Request request = MakeRequest({Statistic::kSum});
  request.segments = offsets;
  const UnaryRequest unary = EncodeUnary(request, Bytes(x), {});
  EXPECT_EQ(unary.method, "/reduction.v1.Reduction/Reduce");
  v1::ReduceRequest proto;
  ASSERT_TRUE(proto.ParseFromString(Join(unary.message)));
  EXPECT_EQ(proto.statistics_size(), 1);
  EXPECT_EQ(
      std::vector<uint64_t>(proto.segments().offsets().begin(), proto.segments().offsets().end()),
      offsets);
  EXPECT_EQ(proto.segments().length(), 0u);
  EXPECT_EQ(proto.inline_(), x);
  EXPECT_TRUE(proto.GetReflection()->GetUnknownFields(proto).empty());

  request.segments = SegmentLength{25};
  ASSERT_TRUE(proto.ParseFromString(Join(EncodeUnary(request, Bytes(x), {}).message)));
  EXPECT_EQ(proto.segments().length(), 25u);
  EXPECT_EQ(proto.segments().offsets_size(), 0);
  EXPECT_EQ(proto.inline_(), x);
}

TEST(EncodeStream, OffsetsOfSegmentsFollowTheHeader) {
  const std::vector<uint64_t> offsets = {0, uint64_t{1} << 40};
  Request request = MakeRequest({Statistic::kDot});
  request.segments = offsets;
  v1::ReduceStreamRequest proto;
  ASSERT_TRUE(proto.ParseFromString(Join(EncodeStreamHeader(request, {}, 7, {}, {}))));
  EXPECT_TRUE(proto.header().has_segments());
  EXPECT_EQ(proto.header().segments().offsets_size(), 0);
  ASSERT_TRUE(proto.ParseFromString(Join(EncodeOffsets(offsets))));
  EXPECT_EQ(proto.segment_offsets_size(), 2);
  EXPECT_EQ(proto.segment_offsets(1), offsets[1]);
  EXPECT_FALSE(proto.has_header());
}

TEST(CountSegments, RefusesWhatCannotCutTheArray) {
  const auto count = [](const Segmentation& segments, uint64_t elements) -> int64_t {
    const Result<uint64_t> result = CountSegments(segments, elements);
    if (result.ok()) return static_cast<int64_t>(*result);
    EXPECT_EQ(result.status().reason, "BAD_SEGMENTS");
    return -1;
  };
  EXPECT_EQ(count(SegmentLength{4}, 12), 3);
  EXPECT_EQ(count(SegmentLength{4}, 0), 0);
  EXPECT_EQ(count(SegmentLength{0}, 0), -1);
  EXPECT_EQ(count(SegmentLength{5}, 12), -1);
  const std::vector<uint64_t> offsets = {0, 5, 5, 12};
  EXPECT_EQ(count(offsets, 12), 3);
  EXPECT_EQ(count(offsets, 13), -1);
  EXPECT_EQ(count(std::span(offsets).first(1), 0), 0);
  EXPECT_EQ(count(std::span(offsets).subspan(1), 12), -1);
  EXPECT_EQ(count(std::span<const uint64_t>(), 0), -1);
}

std::string Packed(std::vector<uint64_t> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint64_t)};
}

TEST(DecodeSegments, GivesColumnsWithTheirValidity) {
  v1::ReduceResponse proto;
  auto* column = proto.add_columns();
  column->set_statistic(v1::STATISTIC_SUM);
  column->set_int64(Packed({static_cast<uint64_t>(-5), 0, 7}));
  column->set_validity("\x05");
  proto.set_segment_counts(Packed({2, 0, 3}));
  proto.set_count(5);
  Request request = MakeRequest({Statistic::kSum});
  request.options.nan_policy = NanPolicy::kPropagate;
  request.segments = SegmentLength{1};
  const auto decode = [&](uint64_t bytes, uint64_t segments) {
    return DecodeSegments(request, bytes, segments, proto.SerializeAsString());
  };
  const auto result = decode(20, 3);
  ASSERT_TRUE(result.ok()) << result.status().message;
  EXPECT_EQ(result->counts, (std::vector<uint64_t>{2, 0, 3}));
  const Column* sums = result->Find(Statistic::kSum);
  ASSERT_NE(sums, nullptr);
  EXPECT_EQ(sums->At(0), Value(int64_t{-5}));
  EXPECT_EQ(sums->At(1), Value());
  EXPECT_EQ(sums->At(2), Value(int64_t{7}));
  EXPECT_EQ(result->Find(Statistic::kMax), nullptr);

  EXPECT_EQ(decode(24, 3).status().code, StatusCode::kDataLoss);
  EXPECT_EQ(decode(20, 4).status().code, StatusCode::kInternal) << "values of three segments";
  column->set_validity("ab");
  EXPECT_EQ(decode(20, 3).status().code, StatusCode::kInternal) << "a bitmap of two bytes";
  column->clear_validity();
  EXPECT_TRUE(decode(20, 3).ok());
  column->set_statistic(v1::STATISTIC_MAX);
  EXPECT_EQ(decode(20, 3).status().code, StatusCode::kInternal) << "another statistic";
  column->set_statistic(v1::STATISTIC_SUM);
  column->clear_values();
  EXPECT_EQ(decode(20, 3).status().code, StatusCode::kInternal) << "no values";
  column->set_int64(Packed({1, 2, 3}));
  proto.set_segment_counts(Packed({2, 3}));
  EXPECT_EQ(decode(20, 3).status().code, StatusCode::kInternal) << "counts of two segments";
}

TEST(EncodeStream, HeaderComesFirstAndOffsetsFollow) {
  const std::string x(5, 'x');
  v1::ReduceStreamRequest first;
  ASSERT_TRUE(first.ParseFromString(
      Join(EncodeStreamHeader(MakeRequest({Statistic::kMax}), {4096, true}, 77, Bytes(x), {}))));
  EXPECT_EQ(first.header().part().first_element(), 4096u);
  EXPECT_TRUE(first.header().part().return_partial());
  EXPECT_EQ(first.header().element_count(), 77u);
  EXPECT_EQ(first.header().statistics_size(), 1);
  EXPECT_EQ(first.x(), x);

  v1::ReduceStreamRequest later;
  ASSERT_TRUE(later.ParseFromString(Join(EncodeChunk(uint64_t{1} << 40, Bytes(x), {}, false))));
  EXPECT_FALSE(later.has_header());
  EXPECT_EQ(later.offset(), uint64_t{1} << 40);
  EXPECT_EQ(later.x(), x);
}

TEST(EncodeStream, LeavesOutWhatIsNotKnown) {
  v1::ReduceStreamRequest proto;
  ASSERT_TRUE(proto.ParseFromString(
      Join(EncodeStreamHeader(MakeRequest({Statistic::kMax}), {}, std::nullopt, {}, {}))));
  EXPECT_FALSE(proto.header().has_part());
  EXPECT_FALSE(proto.header().has_element_count());
}

TEST(DecodeStream, GivesValuesInTheOrderAsked) {
  v1::ReduceResponse proto;
  auto* sum = proto.add_values();
  sum->set_statistic(v1::STATISTIC_SUM);
  sum->mutable_value()->set_int64(INT64_MIN);
  proto.add_values()->set_statistic(v1::STATISTIC_ARGMAX);
  proto.set_count(9);
  for (int i = 0; i < 2; ++i) {
    auto* execution = proto.add_execution();
    execution->set_device("cuda:1");
    execution->set_algorithm(v1::ALGORITHM_TWO_PASS);
    execution->set_bytes(20);
    execution->set_kernel_nanos(21);
  }
  const auto result = DecodeStream(MakeRequest({Statistic::kSum, Statistic::kArgmax}), 40,
                                   proto.SerializeAsString());
  ASSERT_TRUE(result.ok()) << result.status().message;
  EXPECT_EQ(std::get<int64_t>(*result->Find(Statistic::kSum)), INT64_MIN);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(*result->Find(Statistic::kArgmax)));
  EXPECT_EQ(result->Find(Statistic::kMean), nullptr);
  EXPECT_EQ(result->count, 9u);
  ASSERT_EQ(result->executions.size(), 1u);
  EXPECT_EQ(result->executions[0].kernel.count(), 42);
}

TEST(DecodeStream, GivesAStatisticThatIsAskedTwiceTwice) {
  v1::ReduceResponse proto;
  for (int i = 0; i < 2; ++i) {
    proto.add_values()->set_statistic(v1::STATISTIC_SUM);
    proto.mutable_values(i)->mutable_value()->set_int64(7);
  }
  const Request request = MakeRequest({Statistic::kSum, Statistic::kSum});
  const auto result = DecodeStream(request, 0, proto.SerializeAsString());
  ASSERT_TRUE(result.ok()) << result.status().message;
  EXPECT_EQ(result->values.size(), 2u);
}

TEST(DecodeStream, IsDataLossWhenBytesAreMissing) {
  v1::ReduceResponse proto;
  proto.add_values()->set_statistic(v1::STATISTIC_DOT);
  proto.mutable_values(0)->mutable_value()->set_int64(1);
  proto.set_count(3);
  proto.add_execution()->set_bytes(24);
  proto.add_execution()->set_bytes(16);
  const std::string response = proto.SerializeAsString();

  Request request = MakeRequest({Statistic::kDot});
  request.options.nan_policy = NanPolicy::kPropagate;
  EXPECT_TRUE(DecodeStream(request, 12, response).ok()) << "3 pairs of int32";
  const Status lost = DecodeStream(request, 20, response).status();
  EXPECT_EQ(lost.code, StatusCode::kDataLoss);
  EXPECT_EQ(lost.reason, "INCOMPLETE");
  EXPECT_NE(lost.message.find("12 bytes of an array of 20"), std::string::npos) << lost.message;

  request.options.nan_policy = NanPolicy::kIgnore;
  EXPECT_TRUE(DecodeStream(request, 20, response).ok()) << "two NaNs among 5 pairs";
  EXPECT_EQ(DecodeStream(request, 24, response).status().code, StatusCode::kDataLoss);
}

TEST(DecodeStream, RefusesAnswersToOtherQuestions) {
  const Request request = MakeRequest({Statistic::kSum});
  EXPECT_EQ(DecodeStream(request, 0, "\xff").status().code, StatusCode::kInternal);
  EXPECT_EQ(DecodeStream(request, 0, "").status().code, StatusCode::kInternal);
  v1::ReduceResponse proto;
  proto.add_values()->set_statistic(v1::STATISTIC_SUM);
  EXPECT_FALSE(DecodeStream(request, 0, proto.SerializeAsString()).ok()) << "without a value";
  proto.mutable_values(0)->set_statistic(v1::STATISTIC_MAX);
  proto.mutable_values(0)->mutable_value()->set_int64(1);
  EXPECT_FALSE(DecodeStream(request, 0, proto.SerializeAsString()).ok()) << "of another statistic";
  EXPECT_FALSE(DecodeUnary(request, "").ok());
}

TEST(DecodeServerInfo, LeavesOutWhatANewerServerKnows) {
  v1::GetServerInfoResponse proto;
  proto.add_element_types(v1::ELEMENT_TYPE_INT8);
  proto.add_element_types(static_cast<v1::ElementType>(99));
  proto.add_statistics(static_cast<v1::Statistic>(99));
  proto.mutable_limits()->set_max_message_bytes(5);
  const auto info = DecodeServerInfo(proto.SerializeAsString());
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->element_types, std::vector{ElementType::kInt8});
  EXPECT_TRUE(info->statistics.empty());
  EXPECT_EQ(info->max_message_bytes, 5u);
}

TEST(HealthCheck, SpeaksTheHealthProtocol) {
  // HealthCheckRequest {service = 1}, HealthCheckResponse {status = 1}.
  EXPECT_EQ(Join(EncodeHealthCheck()), "\x0a\x16reduction.v1.Reduction");
  EXPECT_TRUE(*DecodeHealthCheck("\x08\x01"));
  EXPECT_FALSE(*DecodeHealthCheck("\x08\x02"));
  EXPECT_FALSE(*DecodeHealthCheck(""));
}

TEST(CheckStatistics, RefusesNoneAndDotWithOthers) {
  EXPECT_TRUE(CheckStatistics({Statistic::kDot}).ok());
  EXPECT_EQ(CheckStatistics({}).reason, "NO_STATISTICS");
  EXPECT_EQ(CheckStatistics({Statistic::kSum, Statistic::kDot}).reason, "DOT_NEEDS_TWO_ARRAYS");
}

}  // namespace
}  // namespace reduction::detail
