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

void MeasurePeaks(unsigned cores, DeviceInfo* info) {
  constexpr size_t kBytes = size_t{128} << 20;
  constexpr size_t kAlignment = 4096;
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(kAlignment, kBytes));
  if (memory == nullptr) return;
  auto* const words = static_cast<uint64_t*>(memory.get());
  const size_t share = kBytes / sizeof(uint64_t) / cores;
  // Each core touches its own share first, so that the share lies in memory close to it.
  OnThreads(cores,
            [&](unsigned i) { std::memset(words + i * share, 1, share * sizeof(uint64_t)); });
  std::vector<uint64_t> results(cores);
  auto begin = Clock::now();
  OnThreads(cores, [&](unsigned i) { results[i] = Scan(words + i * share, share); });
  info->memory_bytes_per_second =
      static_cast<double>(share * cores * sizeof(uint64_t)) / Seconds(Clock::now() - begin);
  begin = Clock::now();
  std::memcpy(words, words + kBytes / 2 / sizeof(uint64_t), kBytes / 2);
  info->copy_bytes_per_second = static_cast<double>(kBytes / 2) / Seconds(Clock::now() - begin);
  // The scans' results are used, so that they cannot be left out.
  if (std::count(results.begin(), results.end(), 0) != 0) info->memory_bytes_per_second = 0;
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
