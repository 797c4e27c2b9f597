// Holds a stream back while work is enqueued, so that timing sees the device alone.
#pragma once

#include <cstdint>

#include "kernels/cuda/cuda_stream.h"
#include "kernels/cuda/mapped_buffer.h"

namespace reduction::bench {

class StreamGate {
 public:
  StreamGate() : opened_(1) {}

  // What is enqueued from now on waits for Open(), a second at most.
  void Close(kernels::cuda::CudaStreamView stream);
  void Open() { *static_cast<volatile uint32_t*>(opened_.view().data()) = closed_; }

 private:
  kernels::cuda::MappedBuffer<uint32_t> opened_;
  uint32_t closed_ = 0;
};

}  // namespace reduction::bench
