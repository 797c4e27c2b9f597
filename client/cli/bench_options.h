// The options of `reduction bench`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/arguments.h"

namespace reduction::cli {

// Adds them to a command line, which fills in `arguments->bench`. Both outlive this object.
class BenchOptions {
 public:
  BenchOptions(CLI::App* app, Arguments* arguments);
  BenchOptions(const BenchOptions&) = delete;
  BenchOptions& operator=(const BenchOptions&) = delete;

  // One that was given; empty when none was.
  std::string Given() const;

  // After parsing the line of a bench: checks what was given and fills in what was not. What is
  // wrong, or nothing.
  std::string Complete() const;

 private:
  CLI::App* const app_;
  Arguments* const arguments_;
  std::optional<uint64_t> elements_;
};

}  // namespace reduction::cli
