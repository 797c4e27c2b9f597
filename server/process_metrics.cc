#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "server/metrics.h"

namespace reduction::server {
namespace {

prometheus::MetricFamily Family(const char* name, const char* help, prometheus::MetricType type,
                                double value) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  metric.counter.value = value;
  return {name, help, type, {metric}};
}

double Entries(const char* folder) {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    ++count;
  }
  return count;
}

// Seconds since the epoch at which this process started.
double StartTime() {
  std::ifstream stat("/proc/self/stat");
  std::string line;
  std::getline(stat, line);
  // The name in parentheses may hold spaces; starttime is the 20th field after it.
  size_t position = line.rfind(')');
  for (int field = 0; field < 20 && position != std::string::npos; ++field) {
    position = line.find(' ', position + 1);
  }
  const double ticks = position == std::string::npos ? 0 : std::stod(line.substr(position));
  std::ifstream system("/proc/stat");
  std::string key;
  double boot = 0;
  while (system >> key) {
    if (key == "btime") {
      system >> boot;
      break;
    }
    std::getline(system, line);
  }
  return boot + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

class ProcessMetrics final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const double start_time_ = StartTime();
};

std::vector<prometheus::MetricFamily> ProcessMetrics::Collect() const {
  using prometheus::MetricType;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  std::ifstream statm("/proc/self/statm");
  double virtual_pages = 0;
  double resident_pages = 0;
  statm >> virtual_pages >> resident_pages;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  rlimit memory{};
  getrlimit(RLIMIT_AS, &memory);
  return {
      Family("process_cpu_seconds_total", "User and system CPU seconds.", MetricType::Counter,
             seconds(usage.ru_utime) + seconds(usage.ru_stime)),
      Family("process_resident_memory_bytes", "Resident memory.", MetricType::Gauge,
             resident_pages * page),
      Family("process_virtual_memory_bytes", "Virtual memory.", MetricType::Gauge,
             virtual_pages * page),
      Family("process_virtual_memory_max_bytes", "Limit of virtual memory.", MetricType::Gauge,
             static_cast<double>(memory.rlim_cur)),
      Family("process_threads", "Threads.", MetricType::Gauge, Entries("/proc/self/task")),
      Family("process_open_fds", "Open file descriptors.", MetricType::Gauge,
             Entries("/proc/self/fd")),
      Family("process_max_fds", "Limit of open file descriptors.", MetricType::Gauge,
             static_cast<double>(files.rlim_cur)),
      Family("process_start_time_seconds", "Start of the process since the epoch.",
             MetricType::Gauge, start_time_),
  };
}

}  // namespace

std::shared_ptr<prometheus::Collectable> MakeProcessMetrics() {
  return std::make_shared<ProcessMetrics>();
}

}  // namespace reduction::server
