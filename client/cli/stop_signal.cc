#include "client/cli/stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace reduction::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

std::atomic<int> handled_event = -1;
static_assert(std::atomic<int>::is_always_lock_free);

void Raise(int event) {
  constexpr uint64_t kOne = 1;
  // Can fail only when the event has been raised 2^64 - 2 times.
  [[maybe_unused]] const ssize_t written = write(event, &kOne, sizeof(kOne));
}

void Handle(int) {
  const int error = errno;
  Raise(handled_event.load());
  errno = error;
}

}  // namespace

StopSignal::StopSignal() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  handled_event = event_;
  struct sigaction action = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

StopSignal::~StopSignal() {
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
  close(event_);
}

void StopSignal::Stop() const { Raise(event_); }

bool StopSignal::WaitUntil(std::chrono::steady_clock::time_point time) const {
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(1);
  for (;;) {
    const auto wait = std::clamp<std::chrono::nanoseconds>(time - std::chrono::steady_clock::now(),
                                                           std::chrono::nanoseconds(0), kLongest);
    constexpr int64_t kSecond = std::nano::den;
    const timespec timeout = {wait.count() / kSecond, wait.count() % kSecond};
    pollfd event = {event_, POLLIN, 0};
    if (ppoll(&event, 1, &timeout, nullptr) > 0) return true;
    if (std::chrono::steady_clock::now() >= time) return false;
  }
}

}  // namespace reduction::cli
