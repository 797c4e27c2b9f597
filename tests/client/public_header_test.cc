// The public header comes first and alone, and brings none of the libraries behind it.
#include "reduction/client.hpp"

#if defined(GRPC_GRPC_H) || defined(GRPCPP_CHANNEL_H) || defined(GOOGLE_PROTOBUF_VERSION) || \
    defined(ABSL_BASE_CONFIG_H_) || defined(REDUCTION_HOST_DEVICE)
#error "the public header includes what it must not"
#endif

// The same names must be defined by the headers that they stand for.
#include <absl/base/config.h>
#include <google/protobuf/stubs/common.h>
#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#if !defined(GRPC_GRPC_H) || !defined(GRPCPP_CHANNEL_H) || !defined(GOOGLE_PROTOBUF_VERSION) || \
    !defined(ABSL_BASE_CONFIG_H_)
#error "an include guard has another name now: mend this test"
#endif

namespace reduction {
namespace {

TEST(PublicHeader, ResultsHoldAValueOrAStatus) {
  const Result<int> value = 3;
  EXPECT_TRUE(value.ok() && value);
  EXPECT_EQ(*value, 3);
  EXPECT_TRUE(value.status().ok());
  const Result<int> error = Status{StatusCode::kNotFound, "gone", {}, {}};
  EXPECT_FALSE(error.ok() || error);
  EXPECT_EQ(error.status().message, "gone");
}

}  // namespace
}  // namespace reduction
