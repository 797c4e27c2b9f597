// One connection to a server, and the calls that go over it. No gRPC in this header.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/src/deadline.h"
#include "client/src/message.h"
#include "reduction/client.hpp"
#include "reduction/status.hpp"

namespace reduction::detail {

// Whether the bytes of a message are copied, or sent from where they are.
enum class Payload { kCopy, kBorrow };

// `status` with the server's name where it says what the message lacks.
Status Named(const std::string& target, Status status);

// A client-streaming call. One thread owns it; Cancel() may come from any.
class StreamCall {
 public:
  // Ends the call if Finish() did not, and waits until borrowed memory is free.
  ~StreamCall();
  StreamCall(const StreamCall&) = delete;
  StreamCall& operator=(const StreamCall&) = delete;

  // Queues a message; waits while earlier ones are queued. False when the call has failed: Finish()
  // says why. Borrowed bytes must stay until Finish() returned.
  bool Send(const Message& message, Payload payload);

  // Ends the stream and waits for the answer and for borrowed memory. Call once.
  Status Finish(std::string* response);

  void Cancel();

 private:
  friend class Connection;
  class Reactor;
  StreamCall(std::string target, std::unique_ptr<Reactor> reactor);
  const std::string target_;
  std::unique_ptr<Reactor> reactor_;
};

// Thread-safe. Connects when first used.
class Connection {
 public:
  // `channel_index` keeps connections to one target apart. `root_certificates` is the content of a
  // PEM file, empty for the system's; unused without options.tls.
  Connection(const std::string& target, int channel_index, const ClientOptions& options,
             const std::string& root_certificates);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Small payloads are copied; larger ones are sent from where they are, and free on return.
  Status CallUnary(std::string_view method, const Message& message, Deadline deadline,
                   std::string* response) const;

  std::unique_ptr<StreamCall> OpenStream(std::string_view method, Deadline deadline) const;

 private:
  struct Channel;
  const std::string target_;
  std::unique_ptr<Channel> channel_;
};

}  // namespace reduction::detail
