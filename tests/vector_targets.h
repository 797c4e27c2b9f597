// Choice of the vector instructions that the CPU backend uses.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace reduction::testing {

// Every target that this processor can run; 0 is the fallback without vector instructions.
inline std::vector<int64_t> RunnableTargets() {
  std::vector<int64_t> targets = {0};
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

// Makes the backend use one target for the time that it lives.
class ScopedTarget {
 public:
  explicit ScopedTarget(int64_t target) { hwy::GetChosenTarget().Update(target); }
  ~ScopedTarget() { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;
};

}  // namespace reduction::testing
