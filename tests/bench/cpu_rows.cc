#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cpu/cpu_info.h"
#include "kernels/cpu/cpu_reduce.h"
#include "tests/bench/cpu_scan.h"
#include "tests/bench/groups.h"

namespace reduction::bench {
namespace {

constexpr size_t kBytes = size_t{1} << 30;
constexpr uint64_t kCount = kBytes / sizeof(float);
// What a thread takes at a time: as long as the longest runs of ReduceOnCpuParallel().
constexpr size_t kBlockBytes = size_t{4} << 20;
constexpr int kRuns = 15;

// Calls work(block) for every block of the data, from `threads` threads.
template <class Work>
void ForEachBlock(unsigned threads, const Work& work) {
  std::atomic<size_t> next{0};
  const auto take = [&] {
    for (size_t i = next++; i < kBytes / kBlockBytes; i = next++) work(i);
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < threads; ++i) workers.emplace_back(take);
  take();
  for (std::thread& worker : workers) worker.join();
}

// The first elements of the benchmark's float32 data in host memory.
class HostData {
 public:
  explicit HostData(unsigned threads)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(4096, kBytes))) {
    if (memory_ == nullptr) throw std::bad_alloc();
    constexpr size_t kBlocks = kBytes / kBlockBytes;
    constexpr uint64_t kBlockElements = kBlockBytes / sizeof(float);
    std::vector<Reference> references(kBlocks);
    std::vector<uint32_t> checksums(kBlocks, 0);
    const DataScale scale = ScaleOf(ElementType::kFloat32);
    ForEachBlock(threads, [&](size_t block) {
      for (uint64_t i = block * kBlockElements; i < (block + 1) * kBlockElements; ++i) {
        const int64_t integer = IntegerAt(scale, i);
        references[block].Add(scale, i, integer, integer);
        const float element = static_cast<float>(static_cast<double>(integer) * scale.unit);
        std::memcpy(memory_.get() + i * sizeof(float), &element, sizeof(float));
        checksums[block] ^= kernels::BitCast<uint32_t>(element);
      }
    });
    for (size_t block = 0; block < kBlocks; ++block) {
      reference_.Join(references[block]);
      checksum_ ^= checksums[block];
    }
  }

  const std::byte* data() const { return memory_.get(); }
  const Reference& reference() const { return reference_; }
  uint32_t checksum() const { return checksum_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  Reference reference_;
  uint32_t checksum_ = 0;
};

uint32_t Scan(const HostData& data, unsigned threads, size_t streams) {
  std::atomic<uint32_t> bits{0};
  ForEachBlock(threads, [&](size_t block) {
    bits ^= ScanOnCpu(reinterpret_cast<const uint32_t*>(data.data() + block * kBlockBytes),
                      kBlockBytes / sizeof(uint32_t), streams);
  });
  return bits;
}

// The rows of so many threads, whose results are checked when they are made.
std::vector<Row> RowsOf(const HostData& data, const std::string& processor, unsigned threads,
                        Checker* checker) {
  const auto row_of = [&](std::string name, std::function<void(uint64_t)> run) {
    return Row{.name = std::move(name),
               .type = ElementType::kFloat32,
               .count = kCount,
               .bytes = static_cast<double>(kBytes),
               .reads_device_memory = false,
               .run = std::move(run),
               .setting = processor + (threads == 1 ? ", 1 thread"
                                                    : ", " + std::to_string(threads) + " threads")};
  };
  std::vector<Row> rows;
  for (const auto& [name, components] :
       {std::pair("sum", kernels::kSumComponent),
        std::pair("all statistics", kernels::kAllOneArrayComponents)}) {
    const kernels::Plan plan{.type = ElementType::kFloat32, .components = components};
    const auto reduce = [&data, plan, threads] {
      return kernels::ReduceOnCpuParallel(plan, data.data(), nullptr, kCount, threads);
    };
    rows.push_back(row_of(name, [reduce](uint64_t) { reduce(); }));
    checker->ExpectState(rows.back().name + ", " + rows.back().setting, plan, reduce(), kCount,
                         data.reference());
  }
  for (const auto& [name, streams] : {std::pair("scan", 1), std::pair("scan, four streams", 4)}) {
    const auto scan = [&data, threads, streams = static_cast<size_t>(streams)] {
      return Scan(data, threads, streams);
    };
    rows.push_back(row_of(name, [scan](uint64_t) { scan(); }));
    if (streams == 1) rows.back().yardstick = Yardstick::kReadOnly;
    checker->ExpectChecksum(rows.back().name + ", " + rows.back().setting, scan(), data.checksum());
  }
  return rows;
}

}  // namespace

uint64_t CpuRows(Report& report) {
  using Clock = std::chrono::steady_clock;
  report.Begin(
      "cpu",
      "the CPU backend, 1 GiB of float32 in host memory: interleaved; \"scan\" takes the "
      "exclusive or of all words with Highway's widest vectors, in blocks of 4 MiB from end "
      "to end, or of four parts of a block side by side; \"x read\" is the ratio to the "
      "first with the same threads");
  const unsigned cores = kernels::AvailableCores();
  const std::string processor = kernels::DescribeCpu().name;
  const HostData data(cores);
  Checker checker(CudaStreamView(), 0);
  std::vector<std::vector<Row>> settings = {RowsOf(data, processor, 1, &checker)};
  if (cores > 1) settings.push_back(RowsOf(data, processor, cores, &checker));
  for (int i = 0; i < kRuns; ++i) {
    for (std::vector<Row>& rows : settings) {
      for (Row& row : rows) {
        const Clock::time_point start = Clock::now();
        row.run(0);
        row.milliseconds.push_back(
            std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      }
    }
  }
  for (const std::vector<Row>& rows : settings) report.Add(rows);
  return checker.wrong();
}

}  // namespace reduction::bench
