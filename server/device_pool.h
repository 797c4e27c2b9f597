// The lanes of one device, each with its thread, and the queue of work for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernels/backend.h"
#include "server/lane_driver.h"
#include "server/metrics.h"

namespace reduction::server {

// Something a lane does. Kept alive by whoever queued it until Complete() was called.
class Work {
 public:
  virtual ~Work() = default;
  // Bytes that this stages, when that is all it does: such works may share a launch.
  virtual size_t staged_bytes() const = 0;
  // Stages bytes. Called on a lane's thread.
  virtual void Stage(LaneDriver& driver) = 0;
  // Called after Stage(), when every launch has finished or the device is lost.
  virtual void Complete(LaneDriver& driver) = 0;

  int64_t queued_at_ns = 0;  // set by Submit()
};

// Thread-safe.
class DevicePool {
 public:
  // Makes `lanes` lanes. Null when the device has no memory for them; *error says why. `on_lost` is
  // called once, from any thread, when the device is lost.
  static std::unique_ptr<DevicePool> Create(std::unique_ptr<kernels::Backend> backend, int lanes,
                                            size_t slots_per_lane, size_t slot_bytes,
                                            Metrics& metrics, std::function<void()> on_lost,
                                            std::string* error);
  // Runs what is queued, then stops.
  ~DevicePool();

  // Queues work; whole arrays (staged_bytes() small) that wait together share launches.
  void Submit(Work* work);
  size_t queue_depth() const;
  // Calls that use this device now, waiting ones included.
  size_t load() const { return load_.load(); }
  void AddLoad() { load_.fetch_add(1); }
  void RemoveLoad() { load_.fetch_sub(1); }

  const kernels::DeviceInfo& info() const { return backend_->info(); }
  size_t lane_count() const { return lanes_.size(); }
  size_t staging_bytes() const;
  DeviceMetrics& metrics() { return metrics_; }

 private:
  DevicePool(std::unique_ptr<kernels::Backend> backend, DeviceMetrics& metrics,
             std::function<void()> on_lost);
  void RunLane(kernels::Lane& lane);
  // Waits for work; empty when the pool stops.
  std::vector<Work*> Take(size_t slot_bytes);

  std::unique_ptr<kernels::Backend> backend_;
  DeviceMetrics& metrics_;
  std::function<void()> on_lost_;
  std::vector<std::unique_ptr<kernels::Lane>> lanes_;
  std::atomic<size_t> load_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Work*> queue_;
  bool stopping_ = false;
  bool lost_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace reduction::server
