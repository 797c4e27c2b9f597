#include "tests/bench/bench.h"

#include <cmath>
#include <cstdio>
#include <variant>

#include "kernels/result.h"

namespace reduction::bench {

void Bench::Time(const std::vector<Row*>& rows, uint64_t span, int repetitions, int batch) {
  constexpr int kWarmUps = 2;
  Slices slices(data_.count(), span);
  for (int i = -kWarmUps; i < repetitions; ++i) {
    for (Row* row : rows) {
      // A kernel's first launch may have to load it, which a closed gate would keep from ending.
      if (i == -kWarmUps) {
        row->enqueue(slices.Next());
        stream_.view().Synchronize();
        continue;
      }
      gate_.Close(stream_.view());
      begin_.view().Record(stream_.view());
      for (int k = 0; k < batch; ++k) row->enqueue(slices.Next());
      end_.view().Record(stream_.view());
      gate_.Open();
      stream_.view().Synchronize();
      if (i >= 0) row->milliseconds.push_back(end_.view().MillisecondsSince(begin_.view()) / batch);
    }
  }
}

void Bench::Verify(const std::string& name, const Plan& plan, const Row& row, uint64_t count,
                   uint64_t apart) {
  row.enqueue(0);
  stream_.view().Synchronize();
  const State state = reducer_.Result();
  const auto key = std::tuple(plan.type, apart, count);
  if (key != reference_key_) reference_ = ReferenceOf(plan.type, 0, apart, count, stream_.view());
  reference_key_ = key;
  const Reference& reference = reference_;
  const double unit = ScaleOf(plan.type).unit;
  const auto expect = [&](const char* what, double got, double want, double tolerance) {
    if (std::abs(got - want) <= tolerance) return;
    ++wrong_;
    std::fprintf(stderr, "WRONG %s, %s: %.17g instead of %.17g\n", name.c_str(), what, got, want);
  };
  const auto value = [&](kernels::Statistic statistic) {
    const kernels::Value v = kernels::Finalize(statistic, plan.type, state, count, {}).value;
    return std::visit(
        [](auto x) {
          if constexpr (std::is_same_v<decltype(x), std::monostate>) {
            return std::nan("");
          } else {
            return static_cast<double>(x);
          }
        },
        v);
  };
  const auto has = [&](Components c) { return (plan.components & c) != 0; };
  const double sum = static_cast<double>(reference.sum) * unit;
  const double products = reference.products() * unit * unit;
  const double magnitude = static_cast<double>(count) * unit * unit *
                           std::pow(static_cast<double>(ScaleOf(plan.type).range), 2);
  if (has(kernels::kSumComponent)) expect("sum", value(kernels::Statistic::kSum), sum, 0);
  if (has(kernels::kDotComponent)) {
    expect("dot", value(kernels::Statistic::kDot), products, 1e-15 * magnitude);
  }
  if (has(kernels::kExtremaComponent)) {
    expect("min", value(kernels::Statistic::kMin), reference.min * unit, 0);
    expect("max", value(kernels::Statistic::kMax), reference.max * unit, 0);
  }
  if (has(kernels::kSquaresComponent)) {
    expect("squares", value(kernels::Statistic::kSumOfSquares), products, 1e-15 * magnitude);
  }
  if (has(kernels::kMomentsComponent)) {
    const double n = static_cast<double>(count);
    expect("variance", value(kernels::Statistic::kVariance), products / n - sum / n * (sum / n),
           1e-12 * magnitude / n);
  }
  if (has(kernels::kNanCountComponent)) expect("NaNs", state.nan_count, 0, 0);
}

}  // namespace reduction::bench
