// What tests know of the build and of the run.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace reduction::testing {

// Built with address or thread sanitizer: a hundred times slower.
inline constexpr bool kSanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

// The seed of random tests: the same in every run, or REDUCTION_TEST_SEED. Print it on failure.
inline uint64_t TestSeed() {
  const char* const seed = std::getenv("REDUCTION_TEST_SEED");
  return seed == nullptr ? 20240229 : std::strtoull(seed, nullptr, 0);
}
inline std::string SeedTrace() { return "REDUCTION_TEST_SEED=" + std::to_string(TestSeed()); }

}  // namespace reduction::testing
