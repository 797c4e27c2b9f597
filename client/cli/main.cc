#include <malloc.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/output.h"

namespace {

using reduction::Status;
using reduction::StatusCode;
using reduction::cli::FormatError;
using reduction::cli::kExitFailed;
using reduction::cli::kExitOk;
using reduction::cli::kExitUsage;

// Returns the exit status, which is not `exit_status` when the text cannot be written.
int Print(const std::string& text, int exit_status) {
  if (std::fputs(text.c_str(), stdout) != EOF && std::fflush(stdout) == 0) return exit_status;
  std::fputs(FormatError({StatusCode::kUnknown, "cannot write to standard output", {}, {}}).c_str(),
             stderr);
  return kExitFailed;
}

int RunCommand(int argc, char** argv) {
  const auto line = reduction::cli::ParseArguments(argc, argv);
  if (!line.ok()) {
    std::fputs(FormatError(line.status()).c_str(), stderr);
    return kExitUsage;
  }
  if (!line->arguments.has_value()) return Print(line->text, kExitOk);
  const reduction::cli::Outcome outcome = reduction::cli::Run(*line->arguments);
  if (!outcome.error.ok()) std::fputs(FormatError(outcome.error).c_str(), stderr);
  return Print(outcome.output, outcome.exit_status);
}

}  // namespace

int main(int argc, char** argv) {
  // gRPC frees and allocates its buffers all the time: keep their pages, or the kernel takes and
  // clears them again each time. Worth half the throughput.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  std::signal(SIGPIPE, SIG_IGN);
  setenv("GRPC_VERBOSITY", "NONE", /*replace=*/0);  // errors are one line, ours
  try {
    return RunCommand(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(FormatError({StatusCode::kResourceExhausted, error.what(), {}, {}}).c_str(), stderr);
    return kExitFailed;
  }
}
