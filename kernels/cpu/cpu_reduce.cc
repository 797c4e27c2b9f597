#include "kernels/cpu/cpu_reduce.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>
#include <vector>

#include "kernels/cpu/run.h"
#include "kernels/float_environment.h"
#include "kernels/ordered_fold.h"

namespace reduction::kernels {
namespace {

State ReduceInDefaultEnvironment(ElementType type, const Run& run) {
  switch (type) {
    case ElementType::kFloat16:
      return ReduceFloat16(run);
    case ElementType::kBfloat16:
      return ReduceBfloat16(run);
    case ElementType::kFloat32:
      return ReduceFloat32(run);
    case ElementType::kFloat64:
      return ReduceFloat64(run);
    case ElementType::kInt8:
      return ReduceInt8(run);
    case ElementType::kInt16:
      return ReduceInt16(run);
    case ElementType::kInt32:
      return ReduceInt32(run);
    case ElementType::kInt64:
      return ReduceInt64(run);
    case ElementType::kUint8:
      return ReduceUint8(run);
    case ElementType::kUint16:
      return ReduceUint16(run);
    case ElementType::kUint32:
      return ReduceUint32(run);
    case ElementType::kUint64:
      break;
  }
  return ReduceUint64(run);
}

[[gnu::noinline]] State FoldNodes(bool floating, const std::vector<Node>& nodes) {
  OrderedFold fold(floating);
  for (const Node& node : nodes) fold.Push(node.run, node.state);
  return fold.Total();
}

// Longest runs that still leave each thread several, so that a slow thread delays little.
unsigned RunLevel(uint64_t leaves, unsigned threads) {
  constexpr uint64_t kRunsPerThread = 16;
  constexpr unsigned kMaxLevel = 8;  // 4 MiB
  const uint64_t run = std::max<uint64_t>(leaves / (kRunsPerThread * threads), 1);
  return std::min(kMaxLevel, static_cast<unsigned>(std::bit_width(run)) - 1);
}

}  // namespace

State ReduceOnCpu(const Plan& plan, const std::byte* x, const std::byte* y, uint64_t count,
                  uint64_t first_index) {
  const DefaultFloatEnvironment environment;
  return ReduceInDefaultEnvironment(
      plan.type, Run{x, y, count, first_index, plan.components, plan.nan_policy});
}

State ReduceOnCpuParallel(const Plan& plan, const std::byte* x, const std::byte* y, uint64_t count,
                          unsigned threads) {
  const uint64_t leaf_elements = kLeafBytes / ElementSize(plan.type);
  const uint64_t leaves = LeafCount(count * ElementSize(plan.type));
  if (threads <= 1 || leaves <= 1) return ReduceOnCpu(plan, x, y, count);

  std::vector<Node> nodes;
  const unsigned level = RunLevel(leaves, threads);
  for (uint64_t leaf = 0; leaf < leaves; leaf += uint64_t{1} << nodes.back().run.level) {
    nodes.push_back({NextRun(leaf, leaves, level), State{}});
  }
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < nodes.size(); i = next++) {
      const LeafRun& run = nodes[i].run;
      const uint64_t begin = run.first_leaf * leaf_elements;
      const uint64_t length = std::min(leaf_elements << run.level, count - begin);
      const size_t offset = run.first_leaf * kLeafBytes;
      const std::byte* const run_y = y == nullptr ? nullptr : y + offset;
      nodes[i].state = ReduceOnCpu(plan, x + offset, run_y, length, begin);
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < std::min<uint64_t>(threads, nodes.size()); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();

  const DefaultFloatEnvironment environment;
  return FoldNodes(IsFloating(plan.type), nodes);
}

}  // namespace reduction::kernels
