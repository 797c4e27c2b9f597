#include "client/src/connection.h"

#include <grpc/grpc.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <utility>

#include "client/src/grpc_conversion.h"
#include "client/src/stream_reactor.h"
#include "client/src/target.h"

namespace reduction::detail {
namespace {

// Below it, a copy costs less than keeping track of borrowed memory.
constexpr size_t kCopyLimit = 64 << 10;

// Starts gRPC for the rest of the process. Its shutdown, which otherwise comes with the end of the
// last channel, waits for a poller that a blocked write started, and that sleeps for up to ten
// seconds: on machines with many cores most clients that streamed took that long to go.
void KeepGrpcRunning() { [[maybe_unused]] static const bool running = (grpc_init(), true); }

grpc::ChannelArguments Arguments(const std::string& target, int channel_index) {
  constexpr int kMilliseconds = 1000;
  grpc::ChannelArguments arguments;
  // Equal channels would share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt("reduction.channel_index", channel_index);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30 * kMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20 * kMilliseconds);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5 * kMilliseconds);
  // gRPC's own retries keep references to what was sent; ours know which calls may be repeated.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A proxy of the environment is for other machines.
  if (IsLoopback(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

}  // namespace

Status Named(const std::string& target, Status status) {
  if (status.code == StatusCode::kUnavailable || status.code == StatusCode::kDeadlineExceeded ||
      status.code == StatusCode::kUnimplemented) {
    status.message = target + ": " + status.message;
  }
  return status;
}

struct Connection::Channel {
  std::shared_ptr<grpc::Channel> grpc;
};

Connection::Connection(const std::string& target, int channel_index, const ClientOptions& options,
                       const std::string& root_certificates)
    : target_(target) {
  KeepGrpcRunning();
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (options.tls.has_value()) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = root_certificates;
    credentials = grpc::SslCredentials(ssl);
  } else {
    credentials = grpc::InsecureChannelCredentials();
  }
  channel_ = std::make_unique<Channel>(
      Channel{grpc::CreateCustomChannel(target, credentials, Arguments(target, channel_index))});
}

Connection::~Connection() = default;

Status Connection::CallUnary(std::string_view method, const Message& message, Deadline deadline,
                             std::string* response) const {
  BorrowedMemory memory;
  // The caller's own thread drives the call: that takes the fewest thread switches.
  grpc::CompletionQueue queue;
  Status result;
  {
    grpc::ByteBuffer request = message.payload_bytes() <= kCopyLimit
                                   ? CopyToBuffer(message)
                                   : BorrowToBuffer(message, &memory);
    grpc::ClientContext context;
    context.set_deadline(deadline);
    grpc::GenericStub stub(channel_->grpc);
    auto call = stub.PrepareUnaryCall(&context, std::string(method), request, &queue);
    request.Clear();
    call->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    result = ToStatus(status);
    if (result.ok()) *response = ToString(answer);
  }
  // An aborted call's bytes can still be on their way out, and it takes this thread to send them.
  while (!memory.IsFree()) {
    void* tag = nullptr;
    bool ok = false;
    queue.AsyncNext(&tag, &ok, DeadlineAfter(std::chrono::milliseconds(1)));
  }
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
  }
  return Named(target_, std::move(result));
}

std::unique_ptr<StreamCall> Connection::OpenStream(std::string_view method,
                                                   Deadline deadline) const {
  auto reactor = std::make_unique<StreamCall::Reactor>();
  reactor->Start(channel_->grpc, std::string(method), deadline);
  return std::unique_ptr<StreamCall>(new StreamCall(target_, std::move(reactor)));
}

}  // namespace reduction::detail
