// The calls that bench makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/bench_answer.h"
#include "reduction/client.hpp"

namespace reduction::cli {

// How one call ended.
struct EndedCall {
  Status status;
  bool wrong = false;  // it succeeded, and its answer differs from the first one to the same call
  uint64_t bytes = 0;  // of its arrays
  std::vector<Execution> executions;  // of a call that succeeded
};

// Arrays of random numbers and what is asked of them. Thread-safe.
class BenchLoad {
 public:
  // `statistics`: what stats gives. `arguments` are those of a bench.
  BenchLoad(const Arguments& arguments, const std::vector<Statistic>& statistics);

  // Makes call `number` (0, 1, …) of the load over `client`.
  EndedCall Call(const Client& client, uint64_t number);

 private:
  struct Kind {
    std::vector<Statistic> statistics;  // {kDot} of both arrays
    std::optional<Segmentation> segmentation;
    std::mutex mutex;
    std::shared_ptr<const Answer> first;  // guarded by mutex; once set, it stays
  };

  void AddKind(std::vector<Statistic> statistics, std::optional<Segmentation> segmentation);
  Result<Answer> Ask(const Client& client, const Kind& kind) const;
  // Whether `answer` is that of earlier calls; the first answer always is.
  bool IsRight(Kind* kind, Answer answer) const;

  const ReduceOptions options_;
  const double tolerance_;
  const ElementType type_;
  std::vector<uint64_t> offsets_;  // of segments
  std::deque<Kind> kinds_;         // call after call, in turn
  std::vector<std::byte> x_;
  std::vector<std::byte> y_;  // empty when no kind is a dot product
};

}  // namespace reduction::cli
