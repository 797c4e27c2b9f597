// Random slices of one buffer, and random plans for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ios>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/fixed_order.h"
#include "tests/random_array.h"
#include "tests/wide_array.h"

namespace reduction::testing {

// Elements that slices are cut from: first the plain ones, of many magnitudes, without NaN or
// infinity and with a few single extremes; then the special ones, with NaNs, infinities, subnormals
// and limits of the type.
struct SliceBuffer {
  std::vector<std::byte> bytes;  // of the elements, and 16 more
  uint64_t plain = 0;
  uint64_t special = 0;

  uint64_t elements() const { return plain + special; }
};

// A buffer with `plain` plain elements, which repeat after a length that is no multiple of a row.
inline SliceBuffer MakeSliceBuffer(kernels::ElementType type, uint64_t plain,
                                   std::mt19937_64& random) {
  const size_t size = kernels::ElementSize(type);
  const uint64_t period = std::min<uint64_t>(plain, 1'000'003);
  SliceBuffer buffer;
  buffer.plain = plain;
  buffer.bytes = WideArray(type, period, random);
  buffer.bytes.resize(plain * size);
  for (uint64_t at = period; at < plain; at += period) {
    std::memcpy(buffer.bytes.data() + at * size, buffer.bytes.data(),
                std::min(period, plain - at) * size);
  }
  // Single extremes of floats: above everything else that is plain, and different from each other.
  kernels::DispatchElementType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kernels::kIsFloating<T> && sizeof(T) > 2) {
      for (uint64_t i = 1; i <= 64; ++i) {
        const T extreme =
            ElementOf<T>((i % 2 == 0 ? 0x1p31 : -0x1p31) * static_cast<double>(64 + i));
        std::memcpy(buffer.bytes.data() + random() % plain * size, &extreme, size);
      }
    }
  });
  for (const Filling filling : {Filling::kMixed, Filling::kAnyBits}) {
    const auto special = RandomArray(type, filling, period / 4 + 1, random);
    buffer.bytes.insert(buffer.bytes.end(), special.begin(), special.end());
    buffer.special += period / 4 + 1;
  }
  buffer.bytes.resize(buffer.bytes.size() + 16);  // vectors that hold the last element are readable
  return buffer;
}

struct SliceDraw {
  kernels::Plan plan;
  uint64_t count = 0;        // elements, of each array of a dot
  uint64_t x_at = 0;         // index in the buffer of the first element
  uint64_t y_at = 0;         // the same, of a dot's second array
  uint64_t first_index = 0;  // index that the first element has in its array; of short slices only

  std::string Describe() const {
    std::ostringstream text;
    text << kernels::ElementTypeName(plan.type) << ", components 0x" << std::hex << plan.components
         << std::dec << ", NaN policy " << static_cast<int>(plan.nan_policy) << ", algorithm "
         << static_cast<int>(plan.algorithm) << ", " << count << " elements at " << x_at << " and "
         << y_at << ", first index " << first_index;
    return text.str();
  }
};

// Slices up to this length get a first index, and are reduced by every vector target.
inline constexpr uint64_t kShortSlice = uint64_t{1} << 16;

// Components of a random set of statistics: one, a few, any or all of one array, or a dot.
inline kernels::Components DrawComponents(std::mt19937_64& random) {
  constexpr size_t kOneArrayStatistics = std::size(kernels::kAllStatistics) - 1;
  if (random() % 5 == 0) return kernels::kDotComponent;
  const uint64_t most[] = {1, 1, 1, 3, 8, 40};
  kernels::Components components = 0;
  for (uint64_t left = most[random() % std::size(most)]; left > 0; --left) {
    components |= kernels::ComponentsOf(kernels::kAllStatistics[random() % kOneArrayStatistics]);
  }
  return components;
}

// A slice of `buffer` of a log-uniform length up to `most`, at most the plain elements. Three of
// four have plain elements alone, so that sums of long ones are seldom NaN.
inline SliceDraw DrawSlice(kernels::ElementType type, const SliceBuffer& buffer, uint64_t most,
                           std::mt19937_64& random) {
  SliceDraw draw;
  draw.plan.type = type;
  draw.plan.components = DrawComponents(random);
  draw.plan.nan_policy =
      random() % 2 == 0 ? kernels::NanPolicy::kPropagate : kernels::NanPolicy::kIgnore;
  std::uniform_real_distribution<double> exponent(0, std::log2(static_cast<double>(most) + 1));
  draw.count = std::min(most, static_cast<uint64_t>(std::exp2(exponent(random))));
  if (random() % 200 == 0) draw.count = random() % 2 == 0 ? 0 : most;

  const uint64_t end = random() % 4 != 0 ? buffer.plain : buffer.elements();
  const uint64_t room = end - draw.count;
  // In the larger room, prefer the end, where the special elements are.
  const auto place = [&] {
    const uint64_t at = end == buffer.plain
                            ? random() % (room + 1)
                            : room - random() % (std::min(room, buffer.special) + 1);
    return random() % 4 == 0 ? at / 64 * 64 : at;
  };
  draw.x_at = place();
  draw.y_at = place();
  // Half of the dots have arrays that lie equally to 16-byte boundaries.
  const uint64_t lanes = 16 / kernels::ElementSize(type);
  if (random() % 2 == 0) {
    draw.y_at = draw.y_at / lanes * lanes + draw.x_at % lanes;
    if (draw.y_at > room) draw.y_at = draw.x_at;
  }
  if (draw.count <= kShortSlice && random() % 4 == 0) {
    draw.first_index =
        (random() % (uint64_t{1} << 30)) * (kernels::kLeafBytes / kernels::ElementSize(type));
  }
  return draw;
}

}  // namespace reduction::testing
