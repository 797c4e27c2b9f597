// Holds a stream back while work is enqueued, so that timing sees the device alone.
#pragma once

#include <cstdint>

#include "kernels/cuda/mapped_buffer.h"
#include "tests/bench/device_rows.h"

namespace reduction::bench {

class StreamGate {
 public:
  StreamGate() : opened_(1) {}

  // What is enqueued from now on waits for Open(), a second at most.
  void Close(CudaStreamView stream) { EnqueueWait(opened_.device_data(), ++closed_, stream); }
  void Open() { *static_cast<volatile uint32_t*>(opened_.view().data()) = closed_; }

 private:
  kernels::cuda::MappedBuffer<uint32_t> opened_;
  uint32_t closed_ = 0;
};

}  // namespace reduction::bench
