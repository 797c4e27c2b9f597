#include "client/cli/progress_bar.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "client/cli/output.h"

namespace reduction::cli {

ProgressBar::ProgressBar() : terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::Update(uint64_t done, uint64_t total) {
  constexpr int kWidth = 30;
  const Clock::time_point now = Clock::now();
  if (!terminal_ || now - start_ < std::chrono::seconds(1) ||
      now - shown_at_ < std::chrono::milliseconds(100)) {
    return;
  }
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double bytes = static_cast<double>(done);
  std::string line = "\r\x1b[K";
  if (total > 0) {
    const double share = bytes / static_cast<double>(total);
    const int filled = static_cast<int>(share * kWidth);
    line.append("[").append(filled, '#').append(kWidth - filled, '.').append("] ");
    line += std::to_string(static_cast<int>(share * 100)) + "%  ";
  }
  line += FormatBytes(bytes);
  if (total > 0) line += " of " + FormatBytes(static_cast<double>(total));
  line += "  " + FormatBytes(bytes / seconds) + "/s";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
  shown_at_ = now;
}

}  // namespace reduction::cli
