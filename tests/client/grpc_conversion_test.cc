#include "client/src/grpc_conversion.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "reduction/rpc/error_details.pb.h"

namespace reduction::detail {
namespace {

using std::chrono_literals::operator""ms;

grpc::Status WithDetails(const rpc::Status& details) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, "full", details.SerializeAsString()};
}

template <class Proto>
void AddDetail(const char* name, const Proto& proto, rpc::Status* status) {
  auto* any = status->add_details();
  any->set_type_url(std::string("type.googleapis.com/") + name);
  any->set_value(proto.SerializeAsString());
}

TEST(ToStatus, ReadsReasonAndRetryDelay) {
  rpc::Status details;
  rpc::ErrorInfo info;
  info.set_reason("QUEUE_FULL");
  AddDetail("google.rpc.ErrorInfo", info, &details);
  rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(250'000'000);
  AddDetail("google.rpc.RetryInfo", retry, &details);
  const Status status = ToStatus(WithDetails(details));
  EXPECT_EQ(status.code, StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message, "full");
  EXPECT_EQ(status.reason, "QUEUE_FULL");
  EXPECT_EQ(status.retry_delay, 250ms);
}

TEST(ToStatus, DoesNotBelieveEndlessDelays) {
  rpc::Status details;
  rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(INT64_MAX);
  retry.mutable_retry_delay()->set_nanos(-1);
  AddDetail("google.rpc.RetryInfo", retry, &details);
  EXPECT_EQ(ToStatus(WithDetails(details)).retry_delay, std::chrono::hours(1));
}

TEST(ToStatus, SurvivesDetailsThatAreNone) {
  const Status garbage = ToStatus({grpc::StatusCode::INTERNAL, "broken", "\xff\xff"});
  EXPECT_EQ(garbage.code, StatusCode::kInternal);
  EXPECT_EQ(garbage.message, "broken");
  EXPECT_TRUE(garbage.reason.empty());

  rpc::Status details;
  AddDetail("google.rpc.Help", rpc::ErrorInfo(), &details);
  details.add_details()->set_type_url("no slash");
  EXPECT_TRUE(ToStatus(WithDetails(details)).reason.empty());
}

TEST(ToStatus, NamesCodesItDoesNotKnowUnknown) {
  EXPECT_EQ(ToStatus({static_cast<grpc::StatusCode>(20), "?"}).code, StatusCode::kUnknown);
  EXPECT_TRUE(ToStatus(grpc::Status::OK).ok());
  EXPECT_EQ(StatusCodeName(StatusCode::kUnauthenticated), "UNAUTHENTICATED");
}

TEST(BorrowToBuffer, LendsTheArraysUntilTheBufferIsGone) {
  const std::string x(100'000, 'x'), y(100'000, 'y');
  const Message message{"head", std::as_bytes(std::span(x)), "middle", std::as_bytes(std::span(y))};
  BorrowedMemory memory;
  {
    const grpc::ByteBuffer buffer = BorrowToBuffer(message, &memory);
    EXPECT_FALSE(memory.IsFree());
    EXPECT_EQ(ToString(buffer), "head" + x + "middle" + y);
    std::vector<grpc::Slice> slices;
    ASSERT_TRUE(buffer.Dump(&slices).ok());
    ASSERT_EQ(slices.size(), 4u);
    EXPECT_EQ(static_cast<const void*>(slices[1].begin()), x.data()) << "copied";
  }
  EXPECT_TRUE(memory.IsFree());
}

TEST(CopyToBuffer, CopiesEverything) {
  std::string x(1000, 'x');
  const grpc::ByteBuffer buffer = CopyToBuffer({"head", std::as_bytes(std::span(x)), {}, {}});
  x.assign(1000, 'z');
  EXPECT_EQ(ToString(buffer), "head" + std::string(1000, 'x'));
}

}  // namespace
}  // namespace reduction::detail
