#include "client/src/array_stream.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "client/src/combine.h"

namespace reduction::detail {
namespace {

// The parts of one array, and the workers that send them: one a connection, each taking the next
// part when it is done with one.
class PartsCall {
 public:
  PartsCall(std::span<const Connection* const> connections, const Request& request,
            const Arrays& arrays, uint64_t part_bytes, uint64_t message_bytes, Deadline deadline)
      : connections_(connections),
        request_(request),
        arrays_(arrays),
        part_bytes_(part_bytes),
        message_bytes_(message_bytes),
        deadline_(deadline),
        progress_(request.options.progress, arrays.total_bytes()),
        results_((arrays.x.size() + part_bytes - 1) / part_bytes),
        active_(connections.size()) {}

  Result<Reduction> Run() {
    const size_t workers = std::min(connections_.size(), results_.size());
    std::vector<std::thread> threads;
    threads.reserve(workers);
    for (size_t i = 1; i < workers; ++i) {
      const std::lock_guard lock(mutex_);
      try {
        threads.emplace_back([this, i] { Work(i, [] {}); });
        ++running_;
      } catch (const std::system_error&) {
        break;  // no more threads to be had: those that run do all parts
      }
    }
    Work(0, [this] { progress_.Report(); });
    WaitForOthers();
    for (std::thread& thread : threads) thread.join();
    if (!failure_.ok()) return failure_;
    return CombineParts(request_, std::move(results_));
  }

 private:
  void Work(size_t worker, const std::function<void()>& report) {
    for (size_t index = next_.fetch_add(1); index < results_.size(); index = next_.fetch_add(1)) {
      const Status status = SendPart(worker, index, report);
      if (!status.ok()) {
        Fail(status);
        break;
      }
    }
    const std::lock_guard lock(mutex_);
    if (worker != 0) --running_;
    changed_.notify_all();
  }

  Status SendPart(size_t worker, size_t index, const std::function<void()>& report) {
    const uint64_t offset = index * part_bytes_;
    const Arrays part =
        arrays_.Slice(offset, std::min<uint64_t>(part_bytes_, arrays_.x.size() - offset));
    const size_t element_size = ElementSize(request_.type);
    PartResult& result = results_[index];
    result.first_element = offset / element_size;
    result.element_count = part.x.size() / element_size;

    const std::unique_ptr<StreamCall> call =
        connections_[worker]->OpenStream(kReduceStreamMethod, deadline_);
    if (!Register(worker, call.get())) return {};
    std::string response;
    const Status status = SendArrays(
        call.get(), request_, {result.first_element, true}, part, message_bytes_,
        [&](uint64_t bytes) {
          progress_.Add(bytes);
          report();
        },
        &response);
    Register(worker, nullptr);
    if (!status.ok()) return status;
    Result<PartialResponse> partial = DecodePartialResponse(response);
    if (!partial.ok()) return partial.status();
    result.response = *std::move(partial);
    return {};
  }

  // Makes the worker's call known to Fail(). False when a part has failed already.
  bool Register(size_t worker, StreamCall* call) {
    const std::lock_guard lock(mutex_);
    active_[worker] = failure_.ok() ? call : nullptr;
    return failure_.ok();
  }

  // The first failure counts; the other calls are cancelled.
  void Fail(const Status& status) {
    const std::lock_guard lock(mutex_);
    next_.store(results_.size());
    if (!failure_.ok()) return;
    failure_ = status;
    for (StreamCall* call : active_) {
      if (call != nullptr) call->Cancel();
    }
  }

  void WaitForOthers() {
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      lock.unlock();
      progress_.Report();
      lock.lock();
    }
  }

  const std::span<const Connection* const> connections_;
  const Request& request_;
  const Arrays arrays_;
  const uint64_t part_bytes_;
  const uint64_t message_bytes_;
  const Deadline deadline_;
  Progress progress_;
  std::atomic<size_t> next_ = 0;
  std::vector<PartResult> results_;  // each written by the worker that took the part

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<StreamCall*> active_;  // by worker
  Status failure_;
  size_t running_ = 0;  // workers beside the calling thread
};

}  // namespace

bool SendHeadWithOffsets(StreamCall* call, const Request& request,
                         std::optional<uint64_t> element_count, uint64_t message_bytes,
                         Payload payload) {
  if (!call->Send(EncodeStreamHeader(request, {}, element_count, {}, {}), payload)) return false;
  const size_t step = std::max<size_t>(1, message_bytes / sizeof(uint64_t));
  for (auto offsets = request.offsets(); !offsets.empty();) {
    const auto some = offsets.first(std::min(step, offsets.size()));
    if (!call->Send(EncodeOffsets(some), payload)) return false;
    offsets = offsets.subspan(some.size());
  }
  return true;
}

Status SendArrays(StreamCall* call, const Request& request, const StreamPart& part,
                  const Arrays& arrays, uint64_t message_bytes,
                  const std::function<void(uint64_t)>& on_sent, std::string* response) {
  const uint64_t length = arrays.x.size();
  const uint64_t step = std::max<uint64_t>(1, message_bytes / (request.is_dot() ? 2 : 1));
  const uint64_t element_count = length / ElementSize(request.type);
  bool header_sent = !request.offsets().empty();
  if (header_sent &&
      !SendHeadWithOffsets(call, request, element_count, message_bytes, Payload::kBorrow)) {
    return call->Finish(response);
  }
  for (uint64_t offset = 0; offset < length || !header_sent;) {
    const Arrays chunk = arrays.Slice(offset, std::min(step, length - offset));
    const Message message =
        header_sent ? EncodeChunk(offset, chunk.x, chunk.y, request.is_dot())
                    : EncodeStreamHeader(request, part, element_count, chunk.x, chunk.y);
    if (!call->Send(message, Payload::kBorrow)) break;
    header_sent = true;
    offset += chunk.x.size();
    on_sent(chunk.total_bytes());
  }
  return call->Finish(response);
}

Result<Reduction> ReduceInParts(std::span<const Connection* const> connections,
                                const Request& request, const Arrays& arrays, uint64_t part_bytes,
                                uint64_t message_bytes, Deadline deadline) {
  return PartsCall(connections, request, arrays, part_bytes, message_bytes, deadline).Run();
}

}  // namespace reduction::detail
