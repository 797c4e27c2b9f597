#include "kernels/partial.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/float_environment.h"

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
  void PutReal(double value) { Put(BitCast<uint64_t>(value)); }
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

void PutNode(const Plan& plan, const State& state, Writer* out) {
  out->Put(state.count);
  if (HasSum(plan)) {
    if (IsFloating(plan.type)) {
      out->PutReal(state.sum);
    } else {
      out->Put(state.integer_sum.low);
      out->Put(state.integer_sum.high);
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

uint64_t LeafElements(ElementType type) { return kLeafBytes / ElementSize(type); }

// Empty when the plan is one that a partial can have; else what is wrong with it.
std::string ComplaintAboutPlan(const Plan& plan) {
  if (plan.components == kDotComponent) return {};
  if (plan.components == 0 || (plan.components & ~kAllOneArrayComponents) != 0) {
    return "the partial's components " + Number(plan.components) +
           " are no set of known ones: dot alone, or any of the others";
  }
  if (Has(plan, kArgComponent) && !Has(plan, kExtremaComponent)) {
    return "the partial has positions of extrema without the extrema";
  }
  return {};
}

// The same of the elements that the part covers.
std::string ComplaintAboutRange(ElementType type, uint64_t first, uint64_t count) {
  if (first % LeafElements(type) != 0) {
    return "the partial's first element " + Number(first) + " is no multiple of a leaf's " +
           Number(LeafElements(type)) + " elements";
  }
  const uint64_t limit = std::numeric_limits<uint64_t>::max() / ElementSize(type);
  if (first > limit || count > limit - first) {
    return "the partial's elements " + Number(first) + " and the next " + Number(count) +
           " exceed the limit of 2^64 bytes an array";
  }
  return {};
}

// Whether an element of the type, other than a NaN, has this key.
bool IsElementKey(ElementType type, int64_t key) {
  return DispatchElementType(type, [key](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      return key >= OrderKey(std::numeric_limits<T>::min()) &&
             key <= OrderKey(std::numeric_limits<T>::max());
    } else {
      const double infinity = std::numeric_limits<double>::infinity();
      if constexpr (std::is_same_v<T, double>) {
        return key >= OrderKey(-infinity) && key <= OrderKey(infinity);
      } else {
        const float limit = static_cast<float>(infinity);
        return key >= OrderKey(-limit) && key <= OrderKey(limit);
      }
    }
  });
}

bool ExtremaAreSound(const Plan& plan, const State& state) {
  if (state.count == 0) return state.min_key == kHighestKey && state.max_key == kLowestKey;
  if (IsFloating(plan.type) && plan.nan_policy == NanPolicy::kPropagate &&
      state.min_key == kLowestKey && state.max_key == kHighestKey) {
    return true;  // a NaN
  }
  return state.min_key <= state.max_key && IsElementKey(plan.type, state.min_key) &&
         IsElementKey(plan.type, state.max_key);
}

// Empty when `state` can be the state of `count` elements from `first` on.
std::string ComplaintAboutNode(const Plan& plan, const State& state, uint64_t first,
                               uint64_t count) {
  const auto complain = [first](std::string_view what) {
    return "the partial's node at element " + Number(first) + " " + std::string(what);
  };
  const bool may_skip = IsFloating(plan.type) && plan.nan_policy == NanPolicy::kIgnore;
  if (state.count > count || (!may_skip && state.count != count)) {
    return complain("counts " + Number(state.count) + " of " + Number(count) + " elements");
  }
  if (Has(plan, kNanCountComponent)) {
    const uint64_t most = !IsFloating(plan.type) ? 0 : may_skip ? count - state.count : count;
    if (state.nan_count > most || (may_skip && state.nan_count != most)) {
      return complain("counts " + Number(state.nan_count) + " NaNs where at most " + Number(most) +
                      " can be");
    }
  }
  if (Has(plan, kNonzeroComponent) && state.nonzero_count > state.count) {
    return complain("counts more elements that are not zero than elements");
  }
  if (Has(plan, kExtremaComponent) && !ExtremaAreSound(plan, state)) {
    return complain("has extrema that no elements of its type have");
  }
  if (Has(plan, kArgComponent)) {
    for (const uint64_t index : {state.argmin, state.argmax}) {
      const bool sound =
          state.count == 0 ? index == kNoIndex : index >= first && index - first < count;
      if (!sound) return complain("has the position of an extremum outside its elements");
    }
  }
  return {};
}

// Empty when the nodes are the canonical decomposition of the part's leaves, with sound states.
std::string ComplaintAboutNodes(const Partial& partial) {
  const uint64_t leaf_elements = LeafElements(partial.plan.type);
  const uint64_t end = partial.first_element + partial.element_count;
  const uint64_t end_leaf = end / leaf_elements + (end % leaf_elements != 0);
  uint64_t leaf = partial.first_element / leaf_elements;
  for (const Node& node : partial.nodes) {
    if (leaf >= end_leaf) return "the partial has more nodes than its leaves make";
    const LeafRun run = NextRun(leaf, end_leaf);
    if (node.run.first_leaf != run.first_leaf || node.run.level != run.level) {
      return "the partial's nodes are not the canonical ones of its leaves";
    }
    leaf += uint64_t{1} << run.level;
    const uint64_t first = run.first_leaf * leaf_elements;
    const uint64_t count = (leaf < end_leaf ? leaf * leaf_elements : end) - first;
    std::string complaint = ComplaintAboutNode(partial.plan, node.state, first, count);
    if (!complaint.empty()) return complaint;
  }
  if (leaf < end_leaf) return "the partial has fewer nodes than its leaves make";
  return {};
}

std::string ComplaintAbout(const Partial& partial) {
  std::string complaint = ComplaintAboutPlan(partial.plan);
  if (complaint.empty()) {
    complaint =
        ComplaintAboutRange(partial.plan.type, partial.first_element, partial.element_count);
  }
  return complaint.empty() ? ComplaintAboutNodes(partial) : complaint;
}

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
      return "the partials " + std::string(partial.first_element < covered ? "overlap" : "gap") +
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
  const uint64_t leaf_elements = LeafElements(partial.plan.type);
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
