#include "client/src/retry.h"

#include <gtest/gtest.h>

#include <vector>

namespace reduction::detail {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Status WithCode(StatusCode code) { return {code, {}, {}, {}}; }

TEST(IsRetryable, ExhaustedOnlyWhenTheServerSaysSo) {
  EXPECT_TRUE(IsRetryable(WithCode(StatusCode::kUnavailable)));
  EXPECT_FALSE(IsRetryable(WithCode(StatusCode::kResourceExhausted)));
  EXPECT_TRUE(IsRetryable({StatusCode::kResourceExhausted, {}, {}, 1ms}));
  for (const StatusCode code : {StatusCode::kOk, StatusCode::kDeadlineExceeded,
                                StatusCode::kInvalidArgument, StatusCode::kInternal}) {
    EXPECT_FALSE(IsRetryable(WithCode(code)));
  }
}

TEST(RetryDelay, DoublesUpToALimit) {
  const Status status = WithCode(StatusCode::kUnavailable);
  EXPECT_EQ(RetryDelay(0, 1, status), 50ms);
  EXPECT_EQ(RetryDelay(0, 0, status), 25ms);
  EXPECT_EQ(RetryDelay(3, 1, status), 400ms);
  EXPECT_EQ(RetryDelay(1'000'000, 1, status), 2s);
}

TEST(RetryDelay, IsNotLessThanTheServerAsks) {
  EXPECT_EQ(RetryDelay(0, 1, {StatusCode::kResourceExhausted, {}, {}, 7s}), 7s);
  EXPECT_EQ(RetryDelay(0, 1, {StatusCode::kResourceExhausted, {}, {}, 1ms}), 50ms);
}

TEST(Jitter, StaysInRange) {
  for (int i = 0; i < 1000; ++i) {
    const double jitter = Jitter();
    EXPECT_GE(jitter, 0);
    EXPECT_LE(jitter, 1);
  }
}

// Counts its calls, and fails as told.
struct Attempts {
  std::vector<Status> results;
  size_t made = 0;
  Status operator()() { return results[made++]; }
};

TEST(CallWithRetries, StopsAtTheFirstAnswerThatCounts) {
  Attempts attempts{{WithCode(StatusCode::kUnavailable), {}, WithCode(StatusCode::kInternal)}};
  EXPECT_TRUE(CallWithRetries(5, DeadlineAfter(60s), attempts).ok());
  EXPECT_EQ(attempts.made, 2u);
}

TEST(CallWithRetries, RepeatsAsOftenAsAllowed) {
  Attempts attempts{std::vector<Status>(9, WithCode(StatusCode::kUnavailable))};
  EXPECT_EQ(CallWithRetries(2, DeadlineAfter(60s), attempts).code, StatusCode::kUnavailable);
  EXPECT_EQ(attempts.made, 3u);
  attempts.made = 0;
  EXPECT_FALSE(CallWithRetries(0, DeadlineAfter(60s), attempts).ok());
  EXPECT_EQ(attempts.made, 1u);
}

TEST(CallWithRetries, DoesNotWaitBeyondTheDeadline) {
  Attempts attempts{{{StatusCode::kResourceExhausted, {}, {}, std::chrono::hours(1)}, {}}};
  EXPECT_EQ(CallWithRetries(5, DeadlineAfter(60s), attempts).code, StatusCode::kResourceExhausted);
  EXPECT_EQ(attempts.made, 1u);
}

TEST(DeadlineAfter, TakesAnyTimeout) {
  EXPECT_GT(DeadlineAfter(std::chrono::nanoseconds::max()), std::chrono::system_clock::now());
  const Deadline past = DeadlineAfter(std::chrono::nanoseconds::min());
  EXPECT_LE(past, std::chrono::system_clock::now());
}

}  // namespace
}  // namespace reduction::detail
