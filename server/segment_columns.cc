#include "server/segment_columns.h"

#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "reduction/v1/reduction.pb.h"

namespace reduction::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using kernels::Statistic;

constexpr size_t kValueBytes = sizeof(uint64_t);
static_assert(std::endian::native == std::endian::little);

// The field of Column that holds values of the kind that Finalize() gives.
int ValuesField(Statistic statistic, kernels::ElementType type) {
  switch (statistic) {
    case Statistic::kSum:
    case Statistic::kDot:
    case Statistic::kMin:
    case Statistic::kMax:
      if (kernels::IsFloating(type)) return v1::Column::kFloat64FieldNumber;
      return kernels::IsSigned(type) ? v1::Column::kInt64FieldNumber
                                     : v1::Column::kUint64FieldNumber;
    case Statistic::kArgmin:
    case Statistic::kArgmax:
    case Statistic::kNanCount:
    case Statistic::kNonzeroCount:
      return v1::Column::kUint64FieldNumber;
    default:
      return v1::Column::kFloat64FieldNumber;
  }
}

// The value's eight bytes; absent where there is none.
std::optional<uint64_t> BitsOf(const kernels::Result& result) {
  if (result.error != kernels::ResultError::kNone) return std::nullopt;
  if (const auto* real = std::get_if<double>(&result.value)) return std::bit_cast<uint64_t>(*real);
  if (const auto* integer = std::get_if<int64_t>(&result.value)) {
    return static_cast<uint64_t>(*integer);
  }
  if (const auto* natural = std::get_if<uint64_t>(&result.value)) return *natural;
  return std::nullopt;
}

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// Tag and length of a field of `length` bytes.
std::string FieldHead(int field, uint64_t length) {
  std::string head;
  AppendVarint(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), &head);
  AppendVarint(length, &head);
  return head;
}

}  // namespace

size_t SegmentColumns::BytesPerSegment(const ReductionSpec& spec) {
  const size_t statistics = spec.statistics.size();
  // A bitmap that grows may take two bits an entry.
  return (statistics + 1) * kValueBytes + (2 * statistics + 7) / 8;
}

std::optional<Refusal> SegmentColumns::AddChunk() {
  constexpr uint64_t kFirst = 1024;
  constexpr uint64_t kLargestBytes = 4 << 20;
  const uint64_t bytes_per_segment = BytesPerSegment(spec_);
  uint64_t capacity = std::clamp<uint64_t>(size_, kFirst, kLargestBytes / bytes_per_segment);
  if (segments_) capacity = std::min(capacity, *segments_ - size_);
  if (!segments_) {
    // Nobody could tell before whether so many fit.
    if (auto refusal = admission_.CheckResults(size_ + capacity, bytes_per_segment)) return refusal;
  }
  auto lease = admission_.NewLease();
  if (auto refusal = admission_.GrowLease(capacity * bytes_per_segment, &lease)) return refusal;
  const size_t bytes = (spec_.statistics.size() + 1) * capacity * kValueBytes;
  chunks_.push_back(std::make_shared<Chunk>(
      Chunk{std::move(lease), capacity, std::make_unique_for_overwrite<std::byte[]>(bytes)}));
  return std::nullopt;
}

std::optional<Refusal> SegmentColumns::Append(const kernels::State& state, uint64_t elements) {
  if (chunks_.empty() || chunks_.back()->size == chunks_.back()->capacity) {
    if (auto refusal = AddChunk()) return refusal;
  }
  Chunk& chunk = *chunks_.back();
  std::byte* to = chunk.bytes.get() + chunk.size * kValueBytes;
  const size_t stride = chunk.capacity * kValueBytes;
  for (size_t i = 0; i < spec_.statistics.size(); ++i) {
    const std::optional<uint64_t> bits = BitsOf(kernels::Finalize(
        spec_.statistics[i], spec_.plan.type, state, elements, spec_.result_options));
    const uint64_t stored = bits.value_or(0);
    memcpy(to + i * stride, &stored, kValueBytes);
    std::string& validity = validity_[i];
    if (validity.empty() && bits) continue;
    // All before the first invalid one were valid; bits after the last entry are 0.
    validity.resize(size_ / 8 + 1, validity.empty() ? '\xff' : '\0');
    const unsigned bit = 1u << size_ % 8;
    const auto byte = static_cast<unsigned char>(validity.back());
    validity.back() = static_cast<char>(bits ? byte | bit : byte & (bit - 1));
  }
  memcpy(to + spec_.statistics.size() * stride, &state.count, kValueBytes);
  ++chunk.size;
  ++size_;
  count_ += state.count;
  return std::nullopt;
}

void SegmentColumns::AppendColumn(size_t column, std::vector<grpc::Slice>* slices) const {
  using Owner = std::shared_ptr<Chunk>;
  for (const Owner& chunk : chunks_) {
    std::byte* const begin = chunk->bytes.get() + column * chunk->capacity * kValueBytes;
    slices->emplace_back(
        begin, chunk->size * kValueBytes, [](void* owner) { delete static_cast<Owner*>(owner); },
        new Owner(chunk));
  }
}

grpc::ByteBuffer SegmentColumns::Encode(const std::string& head) const {
  std::vector<grpc::Slice> slices;
  slices.emplace_back(head);
  const uint64_t column_bytes = size_ * kValueBytes;
  for (size_t i = 0; i < spec_.statistics.size(); ++i) {
    v1::Column column;
    column.set_statistic(static_cast<v1::Statistic>(spec_.statistics[i]));
    const std::string column_head =
        column.SerializeAsString() +
        FieldHead(ValuesField(spec_.statistics[i], spec_.plan.type), column_bytes);
    std::string validity;
    if (!validity_[i].empty()) {
      validity = FieldHead(v1::Column::kValidityFieldNumber, validity_[i].size()) + validity_[i];
    }
    const uint64_t length = column_head.size() + column_bytes + validity.size();
    slices.emplace_back(FieldHead(v1::ReduceResponse::kColumnsFieldNumber, length) + column_head);
    AppendColumn(i, &slices);
    slices.emplace_back(validity);
  }
  slices.emplace_back(FieldHead(v1::ReduceResponse::kSegmentCountsFieldNumber, column_bytes));
  AppendColumn(spec_.statistics.size(), &slices);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace reduction::server
