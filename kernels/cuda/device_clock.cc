#include "kernels/cuda/device_clock.h"

#include <chrono>

namespace reduction::kernels::cuda {
namespace {

constexpr int64_t kMaxEpochAgeNs = 10'000'000'000;

}  // namespace

int64_t SteadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::shared_ptr<const Epoch> DeviceClock::Now() {
  const std::lock_guard lock(mutex_);
  const int64_t before = SteadyNow();
  if (epoch_ != nullptr && before - epoch_->steady_ns < kMaxEpochAgeNs) return epoch_;
  auto epoch = std::make_shared<Epoch>();
  epoch->event.view().Record(stream_.view());
  while (!epoch->event.view().IsDone()) {
  }
  epoch->steady_ns = before + (SteadyNow() - before) / 2;
  epoch_ = epoch;
  return epoch;
}

}  // namespace reduction::kernels::cuda
