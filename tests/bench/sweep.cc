#include "tests/bench/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/bench/loop_variants.h"

namespace reduction::bench {
namespace {

// Of a block, without asking for more, less what is declared in the kernel.
constexpr uint32_t kSharedBytes = (48 << 10) - 1024;

struct Candidate {
  const LoopVariant* variant;
  LaunchShape shape;
  Row row;
};

std::string NameOf(const LoopVariant& variant, const LaunchShape& shape) {
  char name[160];
  std::snprintf(name, sizeof(name), "loop {%u, %u, %u} shape {%u, %u, %u, %s, %s}",
                variant.loop.rows, variant.loop.stages, variant.loop.min_blocks, shape.block_warps,
                shape.run_level, shape.blocks_per_multiprocessor, shape.ticket ? "true" : "false",
                shape.block_a_leaf ? "true" : "false");
  return name;
}

std::vector<LoopVariant> AllVariants() {
  std::vector<LoopVariant> variants;
  AddFloat32Variants(&variants);
  AddFloat16Variants(&variants);
  AddFloat64Variants(&variants);
  AddIntegerVariants(&variants);
  return variants;
}

bool Possible(const LoopVariant& variant, const LaunchShape& shape, uint64_t leaves) {
  const LaunchShape clamped =
      kernels::cuda::ClampShape(shape, leaves, kernels::cuda::DeviceReducer::kMaxUnits);
  const uint64_t used = uint64_t{1} << shape.run_level;
  return clamped.run_level == shape.run_level && clamped.ticket == shape.ticket &&
         (shape.run_level == 0 || used <= leaves) &&
         shape.block_warps * variant.kernel.WarpBytes(shape.run_level) <= kSharedBytes;
}

std::vector<LaunchShape> Shapes(uint64_t leaves, bool atomic) {
  std::vector<LaunchShape> shapes;
  const uint32_t max_level = leaves > 2048 ? 3 : leaves > 256 ? 1 : 0;
  for (const uint32_t warps : {1u, 2u, 4u, 8u}) {
    for (uint32_t level = 0; level <= max_level; ++level) {
      const uint64_t blocks = (leaves >> level) / warps;
      // One atomic a block: not too many.
      if (!atomic || blocks <= 8192) shapes.push_back({warps, level, 0, false});
      if (!atomic) shapes.push_back({warps, level, 0, true});
      if (blocks > 132 * 24 / warps && (atomic || warps == 8)) {
        shapes.push_back({warps, level, 24 / warps, false});
        shapes.push_back({warps, level, 32 / warps, false});
      }
    }
  }
  return shapes;
}

void Print(std::vector<Candidate*> candidates, size_t most, bool one_a_loop, double cub,
           double read) {
  std::sort(candidates.begin(), candidates.end(),
            [](Candidate* a, Candidate* b) { return a->row.Median() < b->row.Median(); });
  std::vector<const LoopVariant*> seen;
  for (Candidate* candidate : candidates) {
    if (most == 0) break;
    if (one_a_loop) {
      if (std::find(seen.begin(), seen.end(), candidate->variant) != seen.end()) continue;
      seen.push_back(candidate->variant);
    }
    --most;
    const double ms = candidate->row.Median();
    std::printf("  %.4f ms %6.0f GB/s  x CUB %.3f  x read %.3f  %s\n", ms,
                candidate->row.bytes / ms / 1e6, cub / ms, read / ms, candidate->row.name.c_str());
  }
  std::fflush(stdout);
}

std::vector<Candidate> Candidates(Bench& bench, const std::vector<const LoopVariant*>& variants,
                                  Algorithm algorithm, uint64_t count, uint64_t apart) {
  std::vector<Candidate> candidates;
  const bool atomic = algorithm == Algorithm::kAtomic;
  for (const LoopVariant* variant : variants) {
    const size_t bytes = count * kernels::ElementSize(variant->type);
    const uint64_t leaves = kernels::LeafCount(bytes);
    std::vector<LaunchShape> shapes = Shapes(leaves, atomic);
    if (variant == variants[0] && variant->set == kernels::cuda::kSumSet) {
      if (!atomic || leaves <= 8192) shapes.push_back({4, 0, 0, false, true});
      if (!atomic) shapes.push_back({4, 0, 0, true, true});
    }
    for (const LaunchShape& shape : shapes) {
      if (!Possible(*variant, shape, leaves)) continue;
      candidates.push_back({variant, shape,
                            bench.Ours(NameOf(*variant, shape), variant->set, algorithm, count,
                                       apart, &shape, &variant->kernel)});
    }
  }
  return candidates;
}

std::vector<Candidate*> Pointers(std::vector<Candidate>& candidates) {
  std::vector<Candidate*> pointers;
  for (Candidate& candidate : candidates) pointers.push_back(&candidate);
  return pointers;
}

}  // namespace

void SweepSizes(Bench& bench) {
  const std::vector<LoopVariant> variants = AllVariants();
  std::vector<const LoopVariant*> sums;
  for (const LoopVariant& variant : variants) {
    if (variant.type == ElementType::kFloat32 && variant.set == kernels::cuda::kSumSet) {
      sums.push_back(&variant);
    }
  }
  bench.data().Become(ElementType::kFloat32);
  for (int power = 10; power <= 30; ++power) {
    const uint64_t count = uint64_t{1} << power;
    if (count > bench.data().count()) break;
    Row cub = bench.Cub(count);
    Row read = bench.Ceiling(count);
    std::vector<Candidate> two_pass = Candidates(bench, sums, Algorithm::kTwoPass, count, 0);
    std::vector<Candidate> atomic = Candidates(bench, sums, Algorithm::kAtomic, count, 0);
    std::vector<Row*> rows = {&cub, &read};
    for (Candidate& candidate : two_pass) rows.push_back(&candidate.row);
    for (Candidate& candidate : atomic) rows.push_back(&candidate.row);
    bench.Time(rows, count, power >= 28 ? 5 : 9, BatchOf(count));
    std::printf("float32 sum of 2^%d: CUB %.4f ms, read only %.4f ms; TWO_PASS, ATOMIC\n", power,
                cub.Median(), read.Median());
    Print(Pointers(two_pass), 5, false, cub.Median(), read.Median());
    Print(Pointers(two_pass), 6, true, cub.Median(), read.Median());
    Print(Pointers(atomic), 4, false, cub.Median(), read.Median());
  }
}

void SweepSets(Bench& bench) {
  const std::vector<LoopVariant> variants = AllVariants();
  for (size_t first = 0; first < variants.size();) {
    const LoopVariant& group = variants[first];
    std::vector<const LoopVariant*> members;
    for (; first < variants.size() && variants[first].type == group.type &&
           variants[first].set == group.set && variants[first].realign == group.realign;
         ++first) {
      members.push_back(&variants[first]);
    }
    bench.data().Become(group.type);
    const uint64_t total = bench.data().count();
    const uint64_t skew = group.realign ? 1 : 0;
    const bool dot = group.set == kernels::cuda::kDotSet;
    const uint64_t count = dot ? total / 2 - skew : total;
    Row read = bench.Ceiling(total);
    std::vector<Candidate> candidates =
        Candidates(bench, members, Algorithm::kTwoPass, count, dot ? total / 2 + skew : 0);
    std::vector<Row*> rows = {&read};
    for (Candidate& candidate : candidates) rows.push_back(&candidate.row);
    bench.Time(rows, total, 5, 1);
    std::printf("%s components %u%s: read only %.4f ms\n",
                std::string(kernels::ElementTypeName(group.type)).c_str(), group.set,
                group.realign ? " unequal" : "", read.Median());
    Print(Pointers(candidates), 4, false, std::nan(""), read.Median());
    Print(Pointers(candidates), 6, true, std::nan(""), read.Median());
  }
}

}  // namespace reduction::bench
