// Makes rows, checks what they compute and times them.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/cuda_event.h"
#include "kernels/cuda/device_reduce.h"
#include "kernels/ladder/ladder.h"
#include "tests/bench/checker.h"
#include "tests/bench/row.h"
#include "tests/bench/stream_gate.h"
#include "tests/bench/yardsticks.h"

namespace reduction::bench {

using kernels::Algorithm;
using kernels::Components;
using kernels::cuda::CudaEvent;
using kernels::cuda::CudaStream;
using kernels::cuda::DeviceReducer;

// How rows are timed.
struct Timing {
  uint64_t span;            // elements from the first to the last that a row reads
  int runs;                 // that count
  int warm_ups = 2;         // before them
  int batch = 1;            // launches a run, but for rows that synchronise
  bool cold = true;         // each launch reads a slice that was not read lately
  bool interleaved = true;  // rows take turns; else one row after the other
};

// The usual way for rows of `count` elements of `type`: events are too coarse for a launch that
// takes less than some microseconds, so launches of small arrays are measured in batches.
Timing TimingOf(ElementType type, uint64_t count);

// On device 0. Rows refer to the bench; their results are checked when they are made, over the
// first `count` elements of the data as they are then.
class Bench {
 public:
  // With `bytes` bytes of data: at least 16.
  explicit Bench(size_t bytes);

  Data& data() { return data_; }
  Checker& checker() { return checker_; }
  DeviceReducer& reducer() { return reducer_; }
  CudaStreamView stream() const { return stream_.view(); }
  int multiprocessors() const { return multiprocessors_; }
  // Bytes per second that the device's memory can give.
  double memory_peak() const { return memory_peak_; }

  // The kernel that only reads, over data of any type.
  Row ReadOnly(uint64_t count);
  // Sums accumulated in T of data whose elements are T, or unsigned integers of its size.
  template <class T>
  Row Cub(uint64_t count);
  template <class T>
  Row Thrust(uint64_t count);
  template <class T>
  Row Step(const kernels::ladder::Row<T>& step, uint64_t count);
  // The production kernels. A dot's second array starts `apart` elements after the first.
  Row Ours(std::string name, Components components, Algorithm algorithm, uint64_t count,
           uint64_t apart = 0);

  // Runs each row first once, so that its kernels are loaded, then as `timing` says.
  void Time(std::vector<Row>* rows, const Timing& timing);
  // Milliseconds between events before and after what `enqueue` enqueues. Held back, the device
  // starts when all of it is enqueued, so that what the host needs for that is not measured;
  // `enqueue` must not wait for the device then.
  double Milliseconds(const std::function<void()>& enqueue, bool held_back);

 private:
  // A row of the data as it is now, without `run`.
  Row RowOf(std::string name, uint64_t count) const;
  // The first T of `device`, once all that was enqueued is done.
  template <class T>
  T ReadBack(const DeviceBuffer& device) const;
  // Makes workspace_ hold at least `bytes` bytes.
  void Reserve(size_t bytes);

  CudaStream stream_;
  int multiprocessors_;
  double memory_peak_;
  Data data_;
  Checker checker_;
  DeviceReducer reducer_;
  DeviceBuffer workspace_;  // of CUB or of the ladder's steps
  DeviceBuffer result_;
  DeviceBuffer checks_;
  StreamGate gate_;
  CudaEvent begin_;
  CudaEvent end_;
};

}  // namespace reduction::bench
