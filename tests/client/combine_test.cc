#include "client/src/combine.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <string>
#include <vector>

#include "kernels/partial.h"

namespace reduction::detail {
namespace {

constexpr uint64_t kLeafElements = kernels::kLeafBytes / sizeof(int64_t);

// A part of one leaf of int64 with this sum.
PartResult Part(uint64_t leaf, const kernels::Int128& sum, uint64_t count = kLeafElements) {
  kernels::Partial partial;
  partial.plan.type = kernels::ElementType::kInt64;
  partial.plan.components = kernels::kSumComponent;
  partial.first_element = leaf * kLeafElements;
  partial.element_count = count;
  kernels::State state;
  state.count = count;
  state.integer_sum = sum;
  partial.nodes = {{{leaf, 0}, state}};
  return {partial.first_element, count, {kernels::EncodePartial(partial), {{"cpu"}}}};
}

Request SumRequest(OverflowPolicy overflow = OverflowPolicy::kWrap) {
  Request request;
  request.type = ElementType::kInt64;
  request.statistics = {Statistic::kSum};
  request.options.overflow = overflow;
  return request;
}

using kernels::Int128;

TEST(CombineParts, GivesTheWholeArraysValues) {
  const auto result = CombineParts(
      SumRequest(), {Part(1, Int128::FromInt64(-5), 3), Part(0, Int128::FromInt64(7))});
  ASSERT_TRUE(result.ok()) << result.status().message;
  EXPECT_EQ(std::get<int64_t>(result->values[0].value), 2);
  EXPECT_EQ(result->count, kLeafElements + 3);
  EXPECT_EQ(result->executions.size(), 1u);
}

TEST(CombineParts, ChecksTheFinalValueAlone) {
  const Int128 most = Int128::FromInt64(INT64_MAX);
  const Request check = SumRequest(OverflowPolicy::kCheck);
  const auto overflow = CombineParts(check, {Part(0, most), Part(1, most)});
  EXPECT_EQ(overflow.status().code, StatusCode::kOutOfRange);
  EXPECT_EQ(overflow.status().reason, "OVERFLOW");
  EXPECT_TRUE(CombineParts(SumRequest(), {Part(0, most), Part(1, most)}).ok());
  const auto back =
      CombineParts(check, {Part(0, most), Part(1, most), Part(2, Int128::FromInt64(-INT64_MAX))});
  ASSERT_TRUE(back.ok()) << back.status().message;
  EXPECT_EQ(std::get<int64_t>(back->values[0].value), INT64_MAX);
}

TEST(CombineParts, RefusesPartialsThatWereNotAskedFor) {
  const PartResult good = Part(0, Int128::FromInt64(1));
  const auto refused = [](const Request& request, PartResult part) {
    return CombineParts(request, {std::move(part)}).status().code == StatusCode::kInternal;
  };
  EXPECT_FALSE(refused(SumRequest(), good));

  PartResult other_range = good;
  other_range.element_count = 5;
  EXPECT_TRUE(refused(SumRequest(), other_range));
  PartResult garbage = good;
  garbage.response.partial = "RPAR";
  EXPECT_TRUE(refused(SumRequest(), garbage));
  Request other_type = SumRequest();
  other_type.type = ElementType::kUint64;
  EXPECT_TRUE(refused(other_type, good));
  Request other_statistic = SumRequest();
  other_statistic.statistics = {Statistic::kMax};
  EXPECT_TRUE(refused(other_statistic, good));
  Request other_policy = SumRequest();
  other_policy.options.nan_policy = NanPolicy::kIgnore;
  EXPECT_TRUE(refused(other_policy, good));
  EXPECT_TRUE(refused(SumRequest(), Part(1, Int128::FromInt64(1)))) << "a gap before it";
}

TEST(CombineParts, RestoresTheCallersFloatingPointEnvironment) {
  std::fesetround(FE_UPWARD);
  const auto result = CombineParts(SumRequest(), {Part(0, Int128::FromInt64(1))});
  const int rounding = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(rounding, FE_UPWARD);
}

}  // namespace
}  // namespace reduction::detail
