#include "client/cli/bench_load.h"

#include <algorithm>
#include <span>
#include <utility>

#include "client/cli/random_numbers.h"
#include "kernels/element_type.h"

namespace reduction::cli {
namespace {

bool IsFloating(ElementType type) {
  return kernels::IsFloating(static_cast<kernels::ElementType>(type));
}

std::vector<Statistic> StatisticsOf(Command op, const std::vector<Statistic>& statistics) {
  switch (op) {
    case Command::kMin:
      return {Statistic::kMin};
    case Command::kMax:
      return {Statistic::kMax};
    case Command::kDot:
      return {Statistic::kDot};
    case Command::kStats:
      return statistics;
    default:
      return {Statistic::kSum};
  }
}

// How much float64 values of an array of `bytes` may differ from call to call. Atomics add in any
// order: the rounding errors of a sum of numbers of at most 1 are far below 1e-9 each.
double ToleranceOf(const Arguments& arguments) {
  if (arguments.options.algorithm != Algorithm::kAtomic || !IsFloating(*arguments.dtype)) return 0;
  return 1e-9 * static_cast<double>(arguments.bench.bytes / ElementSize(*arguments.dtype));
}

// Offsets of segments of 1,024 elements; the last one may be shorter.
std::vector<uint64_t> OffsetsOf(uint64_t count) {
  constexpr uint64_t kLength = 1024;
  std::vector<uint64_t> offsets;
  for (uint64_t offset = 0; offset < count; offset += kLength) offsets.push_back(offset);
  offsets.push_back(count);
  return offsets;
}

}  // namespace

BenchLoad::BenchLoad(const Arguments& arguments, const std::vector<Statistic>& statistics)
    : options_(arguments.options), tolerance_(ToleranceOf(arguments)), type_(*arguments.dtype) {
  const BenchArguments& bench = arguments.bench;
  const uint64_t count = bench.bytes / ElementSize(type_);
  std::optional<Segmentation> segmentation;
  if (arguments.segment_length) segmentation = SegmentLength{*arguments.segment_length};
  std::vector<Command> ops = {Command::kSum, Command::kMin, Command::kMax, Command::kDot,
                              Command::kStats};
  if (bench.op) ops = {*bench.op};
  for (const Command op : ops) AddKind(StatisticsOf(op, statistics), segmentation);
  if (!bench.op && !segmentation) {
    offsets_ = OffsetsOf(count);
    AddKind({Statistic::kSum}, std::span<const uint64_t>(offsets_));
  }
  x_ = RandomNumbers(type_, count, /*seed=*/1);
  if (std::find(ops.begin(), ops.end(), Command::kDot) != ops.end()) {
    y_ = RandomNumbers(type_, count, /*seed=*/2);
  }
}

void BenchLoad::AddKind(std::vector<Statistic> statistics,
                        std::optional<Segmentation> segmentation) {
  Kind& kind = kinds_.emplace_back();
  kind.statistics = std::move(statistics);
  kind.segmentation = segmentation;
}

EndedCall BenchLoad::Call(const Client& client, uint64_t number) {
  Kind& kind = kinds_[number % kinds_.size()];
  Result<Answer> answer = Ask(client, kind);
  if (!answer.ok()) return {answer.status(), false, 0, {}};
  const size_t arrays = kind.statistics.front() == Statistic::kDot ? 2 : 1;
  EndedCall ended{{}, false, x_.size() * arrays, ExecutionsOf(*answer)};
  ended.wrong = !IsRight(&kind, *std::move(answer));
  return ended;
}

Result<Answer> BenchLoad::Ask(const Client& client, const Kind& kind) const {
  const auto wrap = [](auto result) -> Result<Answer> {
    if (!result.ok()) return result.status();
    return Answer(*std::move(result));
  };
  const ArrayView x{type_, x_};
  const ArrayView y{type_, y_};
  const bool dot = kind.statistics.front() == Statistic::kDot;
  if (!kind.segmentation) {
    return wrap(dot ? client.Dot(x, y, options_) : client.Reduce(x, kind.statistics, options_));
  }
  return wrap(dot ? client.DotSegments(x, y, *kind.segmentation, options_)
                  : client.ReduceSegments(x, *kind.segmentation, kind.statistics, options_));
}

bool BenchLoad::IsRight(Kind* kind, Answer answer) const {
  std::shared_ptr<const Answer> first;
  {
    const std::lock_guard lock(kind->mutex);
    if (kind->first == nullptr) {
      kind->first = std::make_shared<const Answer>(std::move(answer));
      return true;
    }
    first = kind->first;
  }
  return SameAnswer(*first, answer, tolerance_);
}

}  // namespace reduction::cli
