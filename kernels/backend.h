// What the engine asks of a device: lanes that take staged bytes and return tree nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/fixed_order.h"

namespace reduction::kernels {

struct DeviceInfo {
  std::string label;  // "cpu" or "cuda:N"
  std::string name;   // the model
  int ordinal = -1;   // N of cuda:N, -1 for the CPU
  uint64_t memory_bytes = 0;
  int multiprocessors = 0;             // cores for the CPU
  double memory_bytes_per_second = 0;  // peak of the kernel link; measured for the CPU
  double copy_bytes_per_second = 0;    // peak of the copy link, measured at start
};

// One node to compute from a staging slot: an aligned run of leaves, or a whole small array.
struct Task {
  size_t x_offset = 0;       // bytes from the start of the slot; a multiple of kRowBytes
  size_t y_offset = 0;       // the same, of the second array of a dot
  uint64_t count = 0;        // elements; x and y each hold that many
  uint64_t first_index = 0;  // index in the array of the first element
};

struct Interval {
  int64_t begin_ns = 0;  // steady clock of this process
  int64_t end_ns = 0;
};

// Times of one launch.
struct Completion {
  Interval copy;  // host staging to device; empty on the CPU
  Interval kernel;
  Algorithm algorithm = Algorithm::kTwoPass;  // what ran
};

// A CUDA stream (or a CPU worker's place) with its staging slots, workspace and result slots. All
// memory is allocated at construction. Not thread-safe: one thread drives a lane.
class Lane {
 public:
  virtual ~Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Staging memory of slot_count() slots of slot_bytes() each, aligned to kRowBytes. slot_bytes()
  // is kLeafBytes times a power of two. Bytes of `slot` may be written while it has no launch
  // outstanding.
  virtual size_t slot_count() const = 0;
  virtual size_t slot_bytes() const = 0;
  virtual std::byte* slot(size_t index) = 0;
  // Whether a launch copies the slot to memory of the device; else it reads the slot itself.
  virtual bool copies_to_device() const = 0;

  // Starts computing the nodes of 1 to kMaxTasks tasks from the first `used_bytes` of a slot
  // without outstanding launch. Returns false when the device is lost (error() says why).
  static constexpr size_t kMaxTasks = 1024;
  virtual bool Launch(size_t slot, size_t used_bytes, const Plan& plan,
                      std::span<const Task> tasks) = 0;

  // Waits for the slot's launch; `states` gets a state for each task, in order. Returns false when
  // the device is lost.
  virtual bool Wait(size_t slot, std::span<State> states, Completion* completion) = 0;

  virtual const std::string& error() const = 0;

 protected:
  Lane() = default;
};

// A device that can make lanes. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceInfo& info() const = 0;
  // Allocates and warms up a lane of `slot_count` slots. Null when the device has no memory left
  // for it; *error says what was missing.
  virtual std::unique_ptr<Lane> CreateLane(size_t slot_count, size_t slot_bytes,
                                           std::string* error) = 0;
};

// The CPU of this machine.
std::unique_ptr<Backend> CreateCpuBackend();

// Every visible CUDA device that can be used; empty when there is no driver, no device, or the
// build has no CUDA. *reason says why it is empty, or which devices are left out and why; it is
// empty when none is.
std::vector<std::unique_ptr<Backend>> CreateCudaBackends(std::string* reason);

}  // namespace reduction::kernels
