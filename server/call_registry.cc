#include "server/call_registry.h"

#include <algorithm>
#include <vector>

#include "server/stream_call.h"

namespace reduction::server {

CallRegistry::CallRegistry(uint64_t min_stream_rate) : min_stream_rate_(min_stream_rate) {
  if (min_stream_rate_ > 0) watchdog_ = std::thread([this] { Watch(); });
}

CallRegistry::~CallRegistry() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (watchdog_.joinable()) watchdog_.join();
}

bool CallRegistry::Enter() {
  const std::lock_guard lock(mutex_);
  if (draining_since_) return false;
  ++active_;
  return true;
}

void CallRegistry::Leave(bool counted) {
  if (!counted) return;
  const std::lock_guard lock(mutex_);
  if (--active_ == 0) changed_.notify_all();
}

void CallRegistry::StartDraining() {
  const std::lock_guard lock(mutex_);
  draining_since_ = std::chrono::steady_clock::now();
}

void CallRegistry::Add(StreamCall* stream) {
  const std::lock_guard lock(mutex_);
  streams_.insert(stream);
}

void CallRegistry::Remove(StreamCall* stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

bool CallRegistry::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  constexpr std::chrono::milliseconds kArrival{500};
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, deadline, [this] { return active_ == 0; })) return false;
  if (draining_since_) {
    changed_.wait_until(lock, std::min(deadline, *draining_since_ + kArrival),
                        [] { return false; });
  }
  return true;
}

void CallRegistry::ForEachStream(const std::function<void(StreamCall&)>& action) {
  std::vector<StreamCall*> streams;
  {
    const std::lock_guard lock(mutex_);
    for (StreamCall* stream : streams_) {
      stream->Ref();
      streams.push_back(stream);
    }
  }
  for (StreamCall* stream : streams) {
    action(*stream);
    stream->Unref();
  }
}

void CallRegistry::FinishStreams(const Refusal& refusal) {
  ForEachStream([&refusal](StreamCall& stream) { stream.FinishWith(refusal); });
}

void CallRegistry::Watch() {
  constexpr std::chrono::seconds kTick{1};
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kTick);
    lock.unlock();
    ForEachStream([this](StreamCall& stream) { stream.CheckRate(min_stream_rate_); });
    lock.lock();
  }
}

}  // namespace reduction::server
