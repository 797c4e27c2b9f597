// The calls that run now: what a drain waits for, and the streams that the watchdog looks after.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

#include "server/refusal.h"

namespace reduction::server {

class StreamCall;

// Thread-safe.
class CallRegistry {
 public:
  // Streams slower than `min_stream_rate` bytes a second, counted while a read is outstanding, are
  // ended. 0: never.
  explicit CallRegistry(uint64_t min_stream_rate);
  ~CallRegistry();

  // A call begins; whether a drain waits for it, which Leave() must be told.
  bool Enter();
  void Leave(bool counted);
  void Add(StreamCall* stream);
  void Remove(StreamCall* stream);

  // From now on calls are refused, and no drain waits for those that begin.
  void StartDraining();
  // Waits until the calls that began before have ended; false when `deadline` came first. Takes
  // half a second from StartDraining() at least: a call whose message is still on its way, which
  // gRPC does not show us yet, can arrive and be refused, where gRPC's shutdown would cancel it.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);
  // Ends every stream that still runs.
  void FinishStreams(const Refusal& refusal);

  uint64_t min_stream_rate() const { return min_stream_rate_; }

 private:
  void Watch();
  // Calls `action` with every stream, none of which is destroyed meanwhile.
  void ForEachStream(const std::function<void(StreamCall&)>& action);

  const uint64_t min_stream_rate_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t active_ = 0;
  std::optional<std::chrono::steady_clock::time_point> draining_since_;
  std::unordered_set<StreamCall*> streams_;
  bool stopping_ = false;
  std::thread watchdog_;
};

}  // namespace reduction::server
