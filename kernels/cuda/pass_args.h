// What the host tells the kernels of a launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/fixed_order.h"

namespace reduction::kernels::cuda {

// A range of device memory with a tree of its own. Blocks take it in units: leaves, or for atomics
// runs of PassArgs::unit_leaves.
struct LeafTask {
  const std::byte* x = nullptr;  // aligned to the element
  const std::byte* y = nullptr;  // the second array of a dot
  uint64_t count = 0;            // elements of each
  uint64_t first_index = 0;      // of the first element in its array
  uint32_t first_unit = 0;       // of the launch
  uint32_t units = 0;            // at least 1
};

// How the nodes of a task's leaves become its state; without a meaning for atomics.
enum class Finish : uint32_t {
  kFoldPass,  // a second, small launch
  kTicket,    // the last block to finish folds them; one task only
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
  uint32_t unit_count = 1;   // of atomics
  uint32_t unit_leaves = 1;  // a block takes: of atomics, or in runs of two passes
  uint32_t node_count = 1;   // of two passes: a node a leaf, or a run of leaves
  Finish finish = Finish::kFoldPass;
  uint64_t* nodes = nullptr;        // word w of node u is at w * node_count + u
  uint64_t* chunk_nodes = nullptr;  // the same of the fold pass's blocks, kMaxFoldBlocks a word
  State* results = nullptr;         // one a task
  AtomicCell* cells = nullptr;      // one a task
  uint32_t* ticket = nullptr;       // 0 between launches
};

// A block that folds combines this many nodes a thread.
inline constexpr uint32_t kFoldNodesPerThread = 4;
// Threads of those that fold any node, and what they can fold.
inline constexpr uint32_t kFoldThreads = 256;
inline constexpr uint32_t kFoldNodes = kFoldThreads * kFoldNodesPerThread;
inline constexpr uint32_t kMaxFoldBlocks = kFoldNodes;

// Nodes that the last block folds where there is no fold pass: so many that a block of 64 threads
// can.
inline constexpr uint32_t kTicketLeaves = 64 * kFoldNodesPerThread;
// Leaves of which the first pass of a sum can make one node: a power of two.
inline constexpr uint32_t kMaxRunLeaves = 8;

// Of DeviceReducer: 4 GiB at a time, and 1 TiB in all.
inline constexpr uint32_t kMaxChunkLevel = 18;
inline constexpr uint32_t kMaxChunks = 256;

inline constexpr uint32_t kWarpThreads = 32;
// So that what a thread and a warp have of a unit's small integers fits in 32 bits.
inline constexpr uint32_t kMaxUnitLeaves = 16;

}  // namespace reduction::kernels::cuda
