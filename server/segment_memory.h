// Memory for the offsets and results of segments. It takes from what gRPC may receive, so that both
// together stay within --memory-limit.
#pragma once

#include <grpcpp/resource_quota.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace reduction::server {

// Thread-safe. Leases keep it alive: results can outlive the server on their way out.
class SegmentMemory : public std::enable_shared_from_this<SegmentMemory> {
 public:
  explicit SegmentMemory(uint64_t receive_bytes)
      : receive_bytes_(receive_bytes), quota_("reduction") {
    quota_.Resize(receive_bytes);
    quota_.SetMaxThreads(kMaxGrpcThreads);
  }

  // Of gRPC's receive buffers, as large as leases leave it, and of the threads that it takes for
  // calls.
  const grpc::ResourceQuota& quota() const { return quota_; }

  uint64_t taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

  // Bytes that are in use, given back on destruction. Not thread-safe.
  class Lease {
   public:
    explicit Lease(std::shared_ptr<SegmentMemory> memory) : memory_(std::move(memory)) {}
    Lease(Lease&& other) noexcept
        : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (bytes_ != 0) memory_->Add(-static_cast<int64_t>(bytes_), UINT64_MAX);
    }

    // Takes `bytes` more, unless all leases together would then hold more than `limit`.
    bool Grow(uint64_t bytes, uint64_t limit) {
      if (!memory_->Add(static_cast<int64_t>(bytes), limit)) return false;
      bytes_ += bytes;
      return true;
    }

   private:
    std::shared_ptr<SegmentMemory> memory_;
    uint64_t bytes_ = 0;
  };

 private:
  // Reflection, and methods that do not exist, take a thread a call; without a limit, as many as
  // clients open calls. Beyond it such calls get RESOURCE_EXHAUSTED. No call of ours needs one.
  static constexpr int kMaxGrpcThreads = 64;

  bool Add(int64_t bytes, uint64_t limit) {
    const std::lock_guard lock(mutex_);
    const uint64_t taken = taken_ + static_cast<uint64_t>(bytes);
    if (taken > limit) return false;
    taken_ = taken;
    quota_.Resize(receive_bytes_ - taken);
    return true;
  }

  const uint64_t receive_bytes_;
  mutable std::mutex mutex_;
  uint64_t taken_ = 0;
  grpc::ResourceQuota quota_;
};

}  // namespace reduction::server
