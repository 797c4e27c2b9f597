#include <utility>

#include "client/src/grpc_conversion.h"
#include "client/src/stream_reactor.h"

namespace reduction::detail {

void StreamCall::Reactor::Start(const std::shared_ptr<grpc::Channel>& channel,
                                const std::string& method, Deadline deadline) {
  context_->set_deadline(deadline);
  grpc::GenericStub(channel).PrepareBidiStreamingCall(&*context_, method, {}, this);
  StartRead(&response_);
  AddHold();
  StartCall();
}

bool StreamCall::Reactor::Send(const Message& message, Payload payload) {
  grpc::ByteBuffer buffer =
      payload == Payload::kBorrow ? BorrowToBuffer(message, &memory_) : CopyToBuffer(message);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failed_ || queue_.size() < kQueueDepth; });
    if (failed_) return false;
    if (writing_) {
      queue_.push_back(std::move(buffer));
      return true;
    }
    writing_ = true;
    current_ = std::move(buffer);
  }
  StartWrite(&current_);
  return true;
}

Status StreamCall::Reactor::Finish(std::string* response) {
  bool end_now = false;
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    end_now = !writing_ && !failed_;
  }
  if (end_now) StartWritesDone();
  RemoveHold();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }
  queue_.clear();
  current_.Clear();
  {
    const std::lock_guard lock(context_mutex_);
    context_.reset();
  }
  memory_.WaitUntilFree();
  Status status = ToStatus(status_);
  if (status.ok()) *response = ToString(response_);
  return status;
}

void StreamCall::Reactor::Cancel() {
  const std::lock_guard lock(context_mutex_);
  if (context_.has_value()) context_->TryCancel();
}

// The one answer, or the end of a call that failed, perhaps while nothing was being written.
void StreamCall::Reactor::OnReadDone(bool ok) {
  if (ok) return;
  const std::lock_guard lock(mutex_);
  failed_ = true;
  changed_.notify_all();
}

void StreamCall::Reactor::OnWriteDone(bool ok) {
  bool write = false;
  bool end = false;
  {
    const std::lock_guard lock(mutex_);
    current_.Clear();
    if (!ok) failed_ = true;
    if (failed_) queue_.clear();
    if (!queue_.empty()) {
      current_ = std::move(queue_.front());
      queue_.pop_front();
      write = true;
    } else {
      writing_ = false;
      end = finishing_ && !failed_;
    }
    changed_.notify_all();
  }
  if (write) StartWrite(&current_);
  if (end) StartWritesDone();
}

void StreamCall::Reactor::OnDone(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  status_ = status;
  done_ = true;
  changed_.notify_all();
}

StreamCall::StreamCall(std::string target, std::unique_ptr<Reactor> reactor)
    : target_(std::move(target)), reactor_(std::move(reactor)) {}

StreamCall::~StreamCall() {
  if (reactor_->finished()) return;
  reactor_->Cancel();
  std::string unused;
  reactor_->Finish(&unused);
}

bool StreamCall::Send(const Message& message, Payload payload) {
  return reactor_->Send(message, payload);
}

Status StreamCall::Finish(std::string* response) {
  return Named(target_, reactor_->Finish(response));
}

void StreamCall::Cancel() { reactor_->Cancel(); }

}  // namespace reduction::detail
