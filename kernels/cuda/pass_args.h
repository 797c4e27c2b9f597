// What the host tells the kernels of a launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

// A range of device memory with a tree of its own. Leaves are taken by warps in units: aligned runs
// of 2^run_level leaves.
struct LeafTask {
  const std::byte* x = nullptr;  // aligned to the element
  const std::byte* y = nullptr;  // the second array of a dot
  uint64_t count = 0;            // elements of each
  uint64_t first_index = 0;      // of the first element in its array
  uint32_t first_unit = 0;       // of the launch
  uint32_t units = 0;            // at least 1
};

// How the nodes of a task's units become its state.
enum class Finish : uint32_t {
  kFoldPass,  // a second, small launch
  kTicket,    // the last block to finish folds them; one task only
  kAtomic,    // no nodes: atomics add each block's (one task) or unit's state
};

// What atomics add to. Holds identities between launches.
struct AtomicCell {
  double sum = 0;
  uint64_t low_half = 0;   // of integer sums, split at bit 32
  uint64_t high_half = 0;  // two's complement
  uint64_t count = 0;      // elements or pairs that took part; kept under kIgnore only
  int64_t min_key = kHighestKey;
  int64_t max_key = kLowestKey;
};

struct PassArgs {
  LeafTask single;                  // the task where `tasks` is null
  const LeafTask* tasks = nullptr;  // task_count tasks ordered by first_unit
  uint32_t task_count = 1;
  uint32_t unit_count = 1;
  uint32_t run_level = 0;
  Finish finish = Finish::kFoldPass;
  uint64_t* nodes = nullptr;        // word w of unit u's node is at w * unit_count + u
  uint64_t* chunk_nodes = nullptr;  // the same of the fold pass's blocks, kMaxFoldBlocks a word
  State* results = nullptr;         // one a task
  AtomicCell* cells = nullptr;      // one a task
  uint32_t* ticket = nullptr;       // 0 between launches
};

// A block of the fold pass combines kFoldThreads * kFoldNodesPerThread nodes.
inline constexpr uint32_t kFoldThreads = 256;
inline constexpr uint32_t kFoldNodesPerThread = 4;
inline constexpr uint32_t kFoldNodes = kFoldThreads * kFoldNodesPerThread;
inline constexpr uint32_t kMaxFoldBlocks = kFoldNodes;

inline constexpr uint32_t kWarpThreads = 32;
inline constexpr uint32_t kMaxBlockWarps = 8;
// Element positions within a run fit in 32 bits.
inline constexpr uint32_t kMaxRunLevel = 10;

}  // namespace reduction::kernels::cuda
