#include "kernels/cpu/cpu_info.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace reduction::kernels {
namespace {

using Clock = std::chrono::steady_clock;

// What a lane stages at a time, and what may wait for it.
constexpr size_t kPeakSlotBytes = 512 << 10;
constexpr size_t kPeakSourceBytes = 8 << 20;

double Seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string ModelName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

// Runs work(i) for each i < count on a thread of its own.
template <class Work>
void OnThreads(unsigned count, const Work& work) {
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i) threads.emplace_back(work, i);
  work(0u);
  for (std::thread& thread : threads) thread.join();
}

uint64_t Scan(const uint64_t* words, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits |= words[i];
  return bits;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

using Memory = std::unique_ptr<void, Free>;

Memory Allocate(size_t bytes) {
  constexpr size_t kAlignment = 4096;
  Memory memory(std::aligned_alloc(kAlignment, bytes));
  if (memory != nullptr) std::memset(memory.get(), 1, bytes);
  return memory;
}

struct Peaks {
  double scan = 0;  // bytes a second
  double copy = 0;
};

// The peaks of one core: the best of a few rounds, so that what else runs at the time counts
// little.
Peaks MeasureCore() {
  constexpr int kRounds = 8;
  const Memory source = Allocate(kPeakSourceBytes);
  const Memory slot = Allocate(kPeakSlotBytes);
  Peaks peaks;
  if (source == nullptr || slot == nullptr) return peaks;
  const auto* const words = static_cast<const uint64_t*>(slot.get());
  bool zero = false;
  for (int round = 0; round < kRounds; ++round) {
    auto begin = Clock::now();
    for (size_t at = 0; at < kPeakSourceBytes; at += kPeakSlotBytes) {
      std::memcpy(slot.get(), static_cast<const std::byte*>(source.get()) + at, kPeakSlotBytes);
    }
    peaks.copy = std::max(peaks.copy, kPeakSourceBytes / Seconds(Clock::now() - begin));
    begin = Clock::now();
    zero |= Scan(words, kPeakSlotBytes / sizeof(uint64_t)) == 0;
    peaks.scan = std::max(peaks.scan, kPeakSlotBytes / Seconds(Clock::now() - begin));
  }
  // The scans' results are used, so that they cannot be left out.
  return zero ? Peaks{} : peaks;
}

void MeasurePeaks(unsigned cores, DeviceInfo* info) {
  std::vector<Peaks> peaks(cores);
  OnThreads(cores, [&](unsigned i) { peaks[i] = MeasureCore(); });
  for (const Peaks& core : peaks) {
    info->memory_bytes_per_second += core.scan;
    info->copy_bytes_per_second += core.copy;
  }
}

}  // namespace

unsigned AvailableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(1u, static_cast<unsigned>(CPU_COUNT(&set)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

DeviceInfo DescribeCpu() {
  const unsigned cores = AvailableCores();
  DeviceInfo info;
  info.label = "cpu";
  info.name = ModelName();
  info.memory_bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  info.multiprocessors = static_cast<int>(cores);
  MeasurePeaks(cores, &info);
  return info;
}

}  // namespace reduction::kernels
