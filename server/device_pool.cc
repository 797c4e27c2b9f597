#include "server/device_pool.h"

#include <utility>

#include "kernels/float_environment.h"
#include "server/array_reduction.h"

namespace reduction::server {

DevicePool::DevicePool(std::unique_ptr<kernels::Backend> backend, DeviceMetrics& metrics,
                       std::function<void()> on_lost)
    : backend_(std::move(backend)), metrics_(metrics), on_lost_(std::move(on_lost)) {}

std::unique_ptr<DevicePool> DevicePool::Create(std::unique_ptr<kernels::Backend> backend, int lanes,
                                               size_t slots_per_lane, size_t slot_bytes,
                                               Metrics& metrics, std::function<void()> on_lost,
                                               std::string* error) {
  DeviceMetrics& device_metrics = *metrics.AddDevice(backend->info());
  std::unique_ptr<DevicePool> pool(
      new DevicePool(std::move(backend), device_metrics, std::move(on_lost)));
  for (int i = 0; i < lanes; ++i) {
    auto lane = pool->backend_->CreateLane(slots_per_lane, slot_bytes, error);
    if (lane == nullptr) return nullptr;
    pool->lanes_.push_back(std::move(lane));
  }
  device_metrics.lanes->Set(lanes);
  device_metrics.staging_bytes->Set(static_cast<double>(pool->staging_bytes()));
  for (auto& lane : pool->lanes_) {
    pool->threads_.emplace_back([raw = pool.get(), &lane = *lane] { raw->RunLane(lane); });
  }
  return pool;
}

DevicePool::~DevicePool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void DevicePool::Submit(Work* work) {
  work->queued_at_ns = SteadyNanos();
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(work);
    metrics_.queue_depth->Set(static_cast<double>(queue_.size()));
  }
  ready_.notify_one();
}

size_t DevicePool::queue_depth() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

size_t DevicePool::staging_bytes() const {
  size_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane->slot_count() * lane->slot_bytes();
  return bytes;
}

std::vector<Work*> DevicePool::Take(size_t slot_bytes) {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  std::vector<Work*> batch;
  size_t bytes = 0;
  while (!queue_.empty()) {
    const size_t next = queue_.front()->staged_bytes();
    if (!batch.empty() && next > slot_bytes - std::min(bytes, slot_bytes)) break;
    bytes = next > slot_bytes ? slot_bytes : bytes + next;
    batch.push_back(queue_.front());
    queue_.pop_front();
    // The CPU gains nothing from a shared launch: leave the rest to other workers.
    constexpr size_t kMaxBatch = 128;
    if (info().ordinal < 0 || batch.size() == kMaxBatch) break;
  }
  metrics_.queue_depth->Set(static_cast<double>(queue_.size()));
  return batch;
}

void DevicePool::RunLane(kernels::Lane& lane) {
  const kernels::DefaultFloatEnvironment environment;
  LaneDriver driver(lane, metrics_);
  for (std::vector<Work*> batch = Take(lane.slot_bytes()); !batch.empty();
       batch = Take(lane.slot_bytes())) {
    metrics_.lanes_in_use->Increment();
    for (Work* work : batch) work->Stage(driver);
    if (!driver.Drain()) {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(lost_, true)) {
        metrics_.healthy->Set(0);
        on_lost_();
      }
    }
    metrics_.lanes_in_use->Decrement();
    for (Work* work : batch) work->Complete(driver);
  }
}

}  // namespace reduction::server
