#include "kernels/partial.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/float_environment.h"
#include "kernels/partial_check.h"
#include "kernels/result.h"

namespace reduction::kernels {
namespace {

constexpr std::string_view kMagic = "RPAR";
constexpr uint8_t kEncodingVersion = 1;
constexpr size_t kHeaderBytes = 32;

class Writer {
 public:
  template <class T>
  void Put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
    }
  }
  void PutReal(double value) { Put(BitCast<uint64_t>(Canonical(value))); }
  void PutBytes(std::string_view bytes) { bytes_ += bytes; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// The caller knows that the bytes suffice.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T Get() {
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes_[i])} << (8 * i);
    }
    bytes_.remove_prefix(sizeof(T));
    return static_cast<T>(value);
  }
  double GetReal() { return BitCast<double>(Get<uint64_t>()); }

 private:
  std::string_view bytes_;
};

bool Has(const Plan& plan, Components component) { return (plan.components & component) != 0; }
bool HasSum(const Plan& plan) { return Has(plan, kSumComponent | kDotComponent); }

size_t NodeBytes(const Plan& plan) {
  const bool floating = IsFloating(plan.type);
  return 8 + (HasSum(plan) ? (floating ? 8 : 16) : 0) + (Has(plan, kExtremaComponent) ? 16 : 0) +
         (Has(plan, kArgComponent) ? 16 : 0) + (Has(plan, kSquaresComponent) ? 8 : 0) +
         (Has(plan, kMomentsComponent) ? 24 : 0) + (Has(plan, kL1Component) ? 8 : 0) +
         (Has(plan, kNanCountComponent) ? 8 : 0) + (Has(plan, kNonzeroComponent) ? 8 : 0);
}

// The sum without what differs from device to device: a dot of 64-bit integers has a meaning modulo
// 2^64 alone.
Int128 CanonicalSum(const Plan& plan, const Int128& sum) {
  if (!Has(plan, kDotComponent) || ElementSize(plan.type) < 8) return sum;
  return IsSigned(plan.type) ? Int128::FromInt64(static_cast<int64_t>(sum.low))
                             : Int128::FromUint64(sum.low);
}

void PutNode(const Plan& plan, const State& state, Writer* out) {
  out->Put(state.count);
  if (HasSum(plan)) {
    if (IsFloating(plan.type)) {
      out->PutReal(state.sum);
    } else {
      const Int128 sum = CanonicalSum(plan, state.integer_sum);
      out->Put(sum.low);
      out->Put(sum.high);
    }
  }
  if (Has(plan, kExtremaComponent)) {
    out->Put(state.min_key);
    out->Put(state.max_key);
  }
  if (Has(plan, kArgComponent)) {
    out->Put(state.argmin);
    out->Put(state.argmax);
  }
  if (Has(plan, kSquaresComponent)) out->PutReal(state.sum_squares);
  if (Has(plan, kMomentsComponent)) {
    out->PutReal(state.shift);
    out->PutReal(state.s1);
    out->PutReal(state.m2);
  }
  if (Has(plan, kL1Component)) out->PutReal(state.l1);
  if (Has(plan, kNanCountComponent)) out->Put(state.nan_count);
  if (Has(plan, kNonzeroComponent)) out->Put(state.nonzero_count);
}

State GetNode(const Plan& plan, Reader* in) {
  State state;
  state.count = in->Get<uint64_t>();
  if (HasSum(plan)) {
    if (IsFloating(plan.type)) {
      state.sum = in->GetReal();
    } else {
      state.integer_sum.low = in->Get<uint64_t>();
      state.integer_sum.high = in->Get<int64_t>();
    }
  }
  if (Has(plan, kExtremaComponent)) {
    state.min_key = in->Get<int64_t>();
    state.max_key = in->Get<int64_t>();
  }
  if (Has(plan, kArgComponent)) {
    state.argmin = in->Get<uint64_t>();
    state.argmax = in->Get<uint64_t>();
  }
  if (Has(plan, kSquaresComponent)) state.sum_squares = in->GetReal();
  if (Has(plan, kMomentsComponent)) {
    state.shift = in->GetReal();
    state.s1 = in->GetReal();
    state.m2 = in->GetReal();
  }
  if (Has(plan, kL1Component)) state.l1 = in->GetReal();
  if (Has(plan, kNanCountComponent)) state.nan_count = in->Get<uint64_t>();
  if (Has(plan, kNonzeroComponent)) state.nonzero_count = in->Get<uint64_t>();
  return state;
}

std::string Number(uint64_t value) { return std::to_string(value); }

// Reads the header; *node_count gets the announced number of nodes. Empty when it is sound.
std::string ReadHeader(std::string_view bytes, Partial* partial, uint32_t* node_count) {
  if (bytes.size() < kHeaderBytes) {
    return "the partial has " + Number(bytes.size()) + " bytes, fewer than its header's " +
           Number(kHeaderBytes);
  }
  if (!bytes.starts_with(kMagic)) return "the bytes are no partial: they do not start with RPAR";
  Reader in(bytes.substr(kMagic.size()));
  const auto encoding = in.Get<uint8_t>();
  if (encoding != kEncodingVersion) {
    return "the partial's encoding version " + Number(encoding) + " is not " +
           Number(kEncodingVersion) + ", the one known here";
  }
  const auto order = in.Get<uint8_t>();
  if (order != kOrderVersion) {
    return "the partial's order version " + Number(order) + " is not " + Number(kOrderVersion) +
           ", the one known here";
  }
  const auto type = in.Get<uint8_t>();
  if (type < 1 || type > std::size(kAllElementTypes)) {
    return "the partial's element type " + Number(type) + " is unknown";
  }
  partial->plan.type = static_cast<ElementType>(type);
  const auto policy = in.Get<uint8_t>();
  if (policy != static_cast<uint8_t>(NanPolicy::kPropagate) &&
      policy != static_cast<uint8_t>(NanPolicy::kIgnore)) {
    return "the partial's NaN policy " + Number(policy) + " is unknown";
  }
  partial->plan.nan_policy = static_cast<NanPolicy>(policy);
  partial->plan.components = in.Get<uint32_t>();
  partial->first_element = in.Get<uint64_t>();
  partial->element_count = in.Get<uint64_t>();
  *node_count = in.Get<uint32_t>();
  return ComplaintAboutPlan(partial->plan);
}

bool SamePlan(const Plan& a, const Plan& b) {
  return a.type == b.type && a.components == b.components && a.nan_policy == b.nan_policy;
}

// Empty when the sorted parts cover the elements from 0 on.
std::string ComplaintAboutCover(const std::vector<Partial>& partials) {
  uint64_t covered = 0;
  for (const Partial& partial : partials) {
    if (!SamePlan(partial.plan, partials.front().plan)) {
      return "the partials differ in element type, statistics or NaN policy";
    }
    if (partial.first_element != covered) {
      return std::string("the partials ") +
             (partial.first_element < covered ? "overlap" : "leave a gap") +
             ": one starts at element " + Number(partial.first_element) +
             " where those before it end at " + Number(covered);
    }
    covered += partial.element_count;
  }
  return {};
}

[[gnu::noinline]] State FoldParts(const std::vector<Partial>& partials) {
  OrderedFold fold(IsFloating(partials.front().plan.type));
  for (const Partial& partial : partials) {
    for (const Node& node : partial.nodes) fold.Push(node.run, node.state);
  }
  return fold.Total();
}

}  // namespace

std::string EncodePartial(const Partial& partial) {
  Writer out;
  out.PutBytes(kMagic);
  out.Put(kEncodingVersion);
  out.Put(static_cast<uint8_t>(kOrderVersion));
  out.Put(static_cast<uint8_t>(partial.plan.type));
  out.Put(static_cast<uint8_t>(partial.plan.nan_policy));
  out.Put(partial.plan.components);
  out.Put(partial.first_element);
  out.Put(partial.element_count);
  out.Put(static_cast<uint32_t>(partial.nodes.size()));
  for (const Node& node : partial.nodes) PutNode(partial.plan, node.state, &out);
  return out.Take();
}

std::optional<Partial> DecodePartial(std::string_view bytes, std::string* error) {
  Partial partial;
  uint32_t node_count = 0;
  *error = ReadHeader(bytes, &partial, &node_count);
  if (!error->empty()) return std::nullopt;
  *error = ComplaintAboutRange(partial.plan.type, partial.first_element, partial.element_count);
  if (!error->empty()) return std::nullopt;
  const size_t expected = kHeaderBytes + uint64_t{node_count} * NodeBytes(partial.plan);
  if (bytes.size() != expected) {
    *error = "the partial has " + Number(bytes.size()) + " bytes where " + Number(node_count) +
             " nodes make " + Number(expected);
    return std::nullopt;
  }
  const uint64_t leaf_elements = kLeafBytes / ElementSize(partial.plan.type);
  const uint64_t end = partial.first_element + partial.element_count;
  const uint64_t end_leaf = end / leaf_elements + (end % leaf_elements != 0);
  uint64_t leaf = partial.first_element / leaf_elements;
  Reader in(bytes.substr(kHeaderBytes));
  for (uint32_t i = 0; i < node_count && leaf < end_leaf; ++i) {
    const LeafRun run = NextRun(leaf, end_leaf);
    partial.nodes.push_back({run, GetNode(partial.plan, &in)});
    leaf += uint64_t{1} << run.level;
  }
  *error = partial.nodes.size() < node_count ? "the partial has more nodes than its leaves make"
                                             : ComplaintAboutNodes(partial);
  if (!error->empty()) return std::nullopt;
  return partial;
}

std::optional<State> CombinePartials(std::vector<Partial> partials, uint64_t* elements,
                                     std::string* error) {
  *error = partials.empty() ? "there are no partials to combine" : "";
  for (const Partial& partial : partials) {
    if (error->empty()) *error = ComplaintAbout(partial);
  }
  if (!error->empty()) return std::nullopt;
  std::sort(partials.begin(), partials.end(), [](const Partial& a, const Partial& b) {
    return std::pair(a.first_element, a.element_count) <
           std::pair(b.first_element, b.element_count);
  });
  *error = ComplaintAboutCover(partials);
  if (!error->empty()) return std::nullopt;
  *elements = partials.back().first_element + partials.back().element_count;
  const DefaultFloatEnvironment environment;
  return FoldParts(partials);
}

}  // namespace reduction::kernels
