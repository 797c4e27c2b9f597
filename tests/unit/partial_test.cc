// Partials: any leaf-aligned split combines to the bits of the whole; hostile bytes are refused.
#include "kernels/partial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_reduce.h"
#include "tests/random_array.h"
#include "tests/reference_reduce.h"
#include "tests/state_difference.h"
#include "tests/test_environment.h"

namespace reduction::testing {
namespace {

using namespace kernels;

// The partial of elements `first` to `end` of an array.
Partial PartOf(const Plan& plan, const std::byte* x, const std::byte* y, uint64_t first,
               uint64_t end) {
  const size_t size = ElementSize(plan.type);
  const uint64_t leaf = kLeafBytes / size;
  Partial partial{plan, first, end - first, {}};
  OrderedFold fold(IsFloating(plan.type), first / leaf);
  for (uint64_t at = first; at < end; at += leaf) {
    const uint64_t count = std::min(leaf, end - at);
    fold.Push({at / leaf, 0}, ReduceOnCpu(plan, x + at * size, y + at * size, count, at));
  }
  partial.nodes = fold.nodes();
  return partial;
}

// Boundaries of a random leaf-aligned split of `count` elements, 0 and `count` included.
std::vector<uint64_t> RandomSplit(uint64_t count, uint64_t leaf, std::mt19937_64& random) {
  std::vector<uint64_t> bounds = {0, count};
  for (uint64_t cuts = random() % 6; cuts > 0; --cuts) {
    bounds.push_back(random() % (count / leaf + 1) * leaf);
  }
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

Partial DecodeOrDie(const std::string& bytes) {
  std::string error;
  const std::optional<Partial> partial = DecodePartial(bytes, &error);
  EXPECT_TRUE(partial.has_value()) << error;
  return partial.value_or(Partial{});
}

// Whether `again`, the encoding of what `bytes` say, has the same bytes, but for the canonical NaN
// in place of another, and the canonical high half of a dot of 64-bit integers.
bool SaysTheSame(const Plan& plan, const std::string& bytes, const std::string& again) {
  constexpr size_t kHeader = 32;
  constexpr size_t kDotNode = 24;
  const bool wide_dot = plan.components == kDotComponent && ElementSize(plan.type) == 8;
  if (again.size() != bytes.size() || again.compare(0, kHeader, bytes, 0, kHeader) != 0) {
    return false;
  }
  for (size_t at = kHeader; at < bytes.size(); at += 8) {
    uint64_t before = 0;
    uint64_t after = 0;
    std::memcpy(&before, bytes.data() + at, 8);
    std::memcpy(&after, again.data() + at, 8);
    const bool nan = std::isnan(BitCast<double>(before)) && after == 0x7ff8000000000000;
    const bool high_half = wide_dot && (at - kHeader) % kDotNode == 16;
    if (before != after && !nan && !high_half) return false;
  }
  return true;
}

class PartialTest : public ::testing::TestWithParam<ElementType> {};

TEST_P(PartialTest, RandomSplitsCombineToTheWhole) {
  SCOPED_TRACE(SeedTrace());
  std::mt19937_64 random(TestSeed());
  const uint64_t leaf = kLeafBytes / ElementSize(GetParam());
  for (int round = 0; round < (kSanitized ? 8 : 40); ++round) {
    const uint64_t count = random() % (20 * leaf);
    const Filling filling = kAllFillings[random() % std::size(kAllFillings)];
    const auto x = RandomArray(GetParam(), filling, count, random);
    const auto y = RandomArray(GetParam(), filling, count, random);
    Components components = round % 4 == 0 ? kDotComponent : 1 + random() % kAllOneArrayComponents;
    if ((components & kArgComponent) != 0) components |= kExtremaComponent;
    const Plan plan{GetParam(), components,
                    random() % 2 == 0 ? NanPolicy::kPropagate : NanPolicy::kIgnore};
    const std::vector<uint64_t> bounds = RandomSplit(count, leaf, random);
    std::vector<Partial> parts;
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      parts.push_back(
          DecodeOrDie(EncodePartial(PartOf(plan, x.data(), y.data(), bounds[i], bounds[i + 1]))));
    }
    std::shuffle(parts.begin(), parts.end(), random);
    uint64_t elements = 0;
    std::string error;
    const std::optional<State> state = CombinePartials(parts, &elements, &error);
    ASSERT_TRUE(state.has_value()) << error;
    EXPECT_EQ(elements, count);
    EXPECT_EQ(StateDifference(plan, *state, ReferenceReduce(plan, x.data(), y.data(), count)), "")
        << "components " << components << " count " << count;
  }
}

TEST_P(PartialTest, EveryMutationAndTruncationIsRefusedOrSound) {
  std::mt19937_64 random(7);
  const uint64_t leaf = kLeafBytes / ElementSize(GetParam());
  const uint64_t count = 6 * leaf + 3;
  const auto x = RandomArray(GetParam(), Filling::kMixed, count, random);
  for (const Components components : {kAllOneArrayComponents, kDotComponent}) {
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      const Plan plan{GetParam(), components, policy};
      const std::string bytes = EncodePartial(PartOf(plan, x.data(), x.data(), 2 * leaf, count));
      std::string error;
      for (size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(DecodePartial(bytes.substr(0, length), &error).has_value()) << length;
        EXPECT_NE(error, "");
      }
      EXPECT_FALSE(DecodePartial(bytes + '\0', &error).has_value());
      for (size_t at = 0; at < bytes.size(); ++at) {
        // Every value of the byte; under sanitizers every flip of one bit.
        for (int flip = 1; flip < 256; flip = kSanitized ? 2 * flip : flip + 1) {
          std::string mutated = bytes;
          mutated[at] = static_cast<char>(bytes[at] ^ flip);
          const std::optional<Partial> partial = DecodePartial(mutated, &error);
          if (!partial) {
            ASSERT_NE(error, "");
            continue;
          }
          // What is accepted says the same as its bytes, and combining it is safe.
          ASSERT_TRUE(SaysTheSame(partial->plan, mutated, EncodePartial(*partial))) << at;
          uint64_t elements = 0;
          CombinePartials({*partial}, &elements, &error);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PartialTest, ::testing::ValuesIn(kAllElementTypes),
                         [](const auto& info) { return std::string(ElementTypeName(info.param)); });

constexpr uint64_t kLeaf = kLeafBytes / sizeof(float);

// A sound partial of zeros with every component, from `first` on.
Partial ZerosPart(uint64_t first, uint64_t count) {
  const std::vector<float> zeros(first + count);
  const auto* bytes = reinterpret_cast<const std::byte*>(zeros.data());
  return PartOf({ElementType::kFloat32, kAllOneArrayComponents}, bytes, bytes, first,
                first + count);
}

std::string Refusal(const Partial& partial) {
  std::string error;
  EXPECT_FALSE(DecodePartial(EncodePartial(partial), &error).has_value());
  return error;
}

std::string CombineRefusal(std::vector<Partial> partials) {
  uint64_t elements = 0;
  std::string error;
  EXPECT_FALSE(CombinePartials(std::move(partials), &elements, &error).has_value());
  return error;
}

TEST(PartialEncodingTest, HasTheDocumentedBytes) {
  const std::vector<int32_t> x = {3, -5};
  const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
  const Plan plan{ElementType::kInt32, kSumComponent | kNonzeroComponent, NanPolicy::kIgnore};
  const std::string expected(
      "RPAR\x01\x01\x07\x02"                                              // versions, type, policy
      "\x81\0\0\0"                                                        // components
      "\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0"                      // range, nodes
      "\x02\0\0\0\0\0\0\0"                                                // count
      "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"  // sum
      "\x02\0\0\0\0\0\0\0",                                               // not zero
      64);
  EXPECT_EQ(EncodePartial(PartOf(plan, bytes, bytes, 0, 2)), expected);
}

// The encoding of one node of two elements.
std::string BytesOf(const Plan& plan, const State& state) {
  return EncodePartial({plan, 0, 2, {{{0, 0}, state}}});
}

TEST(PartialEncodingTest, EveryNanIsTheCanonicalOne) {
  const Plan plan{ElementType::kFloat64, kAllOneArrayComponents};
  const auto with_nan = [](uint64_t bits) {
    State state;
    state.count = 2;
    state.sum = state.sum_squares = state.l1 = BitCast<double>(bits);
    state.shift = state.s1 = state.m2 = BitCast<double>(bits);
    return state;
  };
  const std::string canonical = BytesOf(plan, with_nan(0x7ff8000000000000));
  for (const uint64_t bits : {0xfff8000000000000u, 0x7fffffffffffffffu, 0x7ff8000000000001u}) {
    EXPECT_EQ(BytesOf(plan, with_nan(bits)), canonical) << bits;
  }
  EXPECT_NE(BytesOf(plan, with_nan(0x7ff0000000000000)), canonical);  // an infinity
}

TEST(PartialEncodingTest, HighHalfOfADotOf64BitIntegersExtendsTheLowHalf) {
  const auto with_sum = [](uint64_t low, int64_t high) {
    State state;
    state.count = 2;
    state.integer_sum.low = low;
    state.integer_sum.high = high;
    return state;
  };
  constexpr uint64_t kTop = uint64_t{1} << 63;
  for (const uint64_t low : {uint64_t{0}, uint64_t{5}, kTop, UINT64_MAX}) {
    for (const int64_t high : {0, -1, 1, 77}) {
      const Plan dot_of_signed{ElementType::kInt64, kDotComponent};
      EXPECT_EQ(BytesOf(dot_of_signed, with_sum(low, high)),
                BytesOf(dot_of_signed, with_sum(low, low < kTop ? 0 : -1)));
      const Plan dot_of_unsigned{ElementType::kUint64, kDotComponent};
      EXPECT_EQ(BytesOf(dot_of_unsigned, with_sum(low, high)),
                BytesOf(dot_of_unsigned, with_sum(low, 0)));
    }
  }
  // Sums, and dots of smaller integers, are exact.
  for (const Plan& plan :
       {Plan{ElementType::kInt64, kSumComponent}, Plan{ElementType::kUint64, kSumComponent},
        Plan{ElementType::kInt32, kDotComponent}}) {
    EXPECT_NE(BytesOf(plan, with_sum(kTop, 0)), BytesOf(plan, with_sum(kTop, -1)));
  }
}

// Sums of the elements' halves carry where sums modulo 2^64 do not.
TEST(PartialEncodingTest, DotsOf64BitIntegersHaveTheSameBytesInEveryOrder) {
  constexpr uint64_t kCount = 3 * kLeafBytes / sizeof(uint64_t);
  for (const ElementType type : {ElementType::kInt64, ElementType::kUint64}) {
    std::vector<uint64_t> x(kCount);
    x[0] = x[32] = x[kCount / 2] = uint64_t{1} << (type == ElementType::kInt64 ? 62 : 63);
    const std::vector<uint64_t> ones(kCount, 1);
    const auto* x_bytes = reinterpret_cast<const std::byte*>(x.data());
    const auto* y_bytes = reinterpret_cast<const std::byte*>(ones.data());
    const Plan plan{type, kDotComponent};
    const State exact = ReferenceReduce(plan, x_bytes, y_bytes, kCount);
    EXPECT_EQ(StateDifference(plan, ReduceOnCpu(plan, x_bytes, y_bytes, kCount), exact), "")
        << ElementTypeName(type);
  }
}

TEST(PartialEncodingTest, EmptyPartHasNoNodes) {
  const Partial partial = DecodeOrDie(EncodePartial(ZerosPart(0, 0)));
  EXPECT_TRUE(partial.nodes.empty());
}

TEST(PartialEncodingTest, PartOfHugeArrayFitsInFewNodes) {
  Partial partial{{ElementType::kUint8, kSumComponent}, kLeafBytes, (uint64_t{1} << 62) + 1, {}};
  const uint64_t end_leaf = (partial.element_count + kLeafBytes) / kLeafBytes + 1;
  uint64_t left = partial.element_count;
  for (uint64_t leaf = 1; leaf < end_leaf;) {
    const LeafRun run = NextRun(leaf, end_leaf);
    leaf += uint64_t{1} << run.level;
    State state;
    state.count = std::min(left, kLeafBytes << run.level);
    left -= state.count;
    partial.nodes.push_back({run, state});
  }
  EXPECT_LE(partial.nodes.size(), 2u * 48 + 2);
  EXPECT_EQ(DecodeOrDie(EncodePartial(partial)).nodes.size(), partial.nodes.size());
}

TEST(PartialRefusalTest, NamesWhatIsWrong) {
  Partial partial = ZerosPart(0, kLeaf);
  partial.plan.components = 0;
  EXPECT_NE(Refusal(partial).find("components 0"), std::string::npos);
  partial = ZerosPart(0, kLeaf);
  partial.plan.components = kSumComponent | kDotComponent;
  EXPECT_NE(Refusal(partial).find("dot alone"), std::string::npos);
  partial = ZerosPart(0, kLeaf);
  partial.plan.components = kArgComponent;
  EXPECT_NE(Refusal(partial).find("without the extrema"), std::string::npos);
  partial = ZerosPart(0, kLeaf);
  partial.first_element = 1;
  EXPECT_NE(Refusal(partial).find("no multiple of a leaf"), std::string::npos);
  partial = ZerosPart(0, kLeaf);
  partial.first_element = UINT64_MAX - kLeaf + 1;
  partial.element_count = 2 * kLeaf;
  EXPECT_NE(Refusal(partial).find("2^64 bytes"), std::string::npos);
  partial = ZerosPart(0, 2 * kLeaf);
  partial.nodes.push_back(partial.nodes.back());
  EXPECT_NE(Refusal(partial).find("more nodes"), std::string::npos);
  partial = ZerosPart(0, 3 * kLeaf);
  partial.nodes.pop_back();
  EXPECT_NE(Refusal(partial).find("fewer nodes"), std::string::npos);
  std::string error;
  std::string bytes = EncodePartial(ZerosPart(0, 1));
  bytes[5] = 2;
  EXPECT_FALSE(DecodePartial(bytes, &error).has_value());
  EXPECT_NE(error.find("order version 2"), std::string::npos);
}

TEST(PartialRefusalTest, StatesMustBePossible) {
  const auto refused = [](auto&& spoil) {
    Partial partial = ZerosPart(kLeaf, kLeaf);
    spoil(partial.nodes[0].state);
    return !Refusal(partial).empty();
  };
  EXPECT_TRUE(refused([](State& s) { s.count = kLeaf - 1; }));
  EXPECT_TRUE(refused([](State& s) { s.count = kLeaf + 1; }));
  EXPECT_TRUE(refused([](State& s) { s.nan_count = kLeaf + 1; }));
  EXPECT_TRUE(refused([](State& s) { s.nonzero_count = kLeaf + 1; }));
  EXPECT_TRUE(refused([](State& s) { s.argmin = kLeaf - 1; }));
  EXPECT_TRUE(refused([](State& s) { s.argmax = 2 * kLeaf; }));
  EXPECT_TRUE(refused([](State& s) { s.argmax = kNoIndex; }));
  EXPECT_TRUE(refused([](State& s) { s.min_key = 1; }));
  EXPECT_TRUE(refused([](State& s) { s.max_key = int64_t{1} << 40; }));
  EXPECT_TRUE(refused([](State& s) { s.min_key = kLowestKey; }));
}

TEST(PartialCombineTest, RefusesWhatDoesNotCoverOneArray) {
  EXPECT_NE(CombineRefusal({}), "");
  EXPECT_NE(CombineRefusal({ZerosPart(kLeaf, kLeaf)}).find("gap"), std::string::npos);
  EXPECT_NE(CombineRefusal({ZerosPart(0, kLeaf), ZerosPart(2 * kLeaf, 5)}).find("gap"),
            std::string::npos);
  EXPECT_NE(CombineRefusal({ZerosPart(0, 2 * kLeaf), ZerosPart(kLeaf, kLeaf)}).find("overlap"),
            std::string::npos);
  // A ragged part is the last.
  EXPECT_NE(CombineRefusal({ZerosPart(0, 5), ZerosPart(kLeaf, kLeaf)}).find("gap"),
            std::string::npos);
  Partial other = ZerosPart(kLeaf, kLeaf);
  other.plan.nan_policy = NanPolicy::kIgnore;
  EXPECT_NE(CombineRefusal({ZerosPart(0, kLeaf), other}).find("differ"), std::string::npos);
}

TEST(PartialCombineTest, EmptyPartsMayStandAnywhere) {
  uint64_t elements = 0;
  std::string error;
  const std::optional<State> state = CombinePartials(
      {ZerosPart(kLeaf, 0), ZerosPart(0, 0), ZerosPart(kLeaf, 7), ZerosPart(0, kLeaf)}, &elements,
      &error);
  ASSERT_TRUE(state.has_value()) << error;
  EXPECT_EQ(elements, kLeaf + 7);
  EXPECT_EQ(state->count, kLeaf + 7);
}

}  // namespace
}  // namespace reduction::testing
