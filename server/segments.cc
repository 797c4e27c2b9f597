#include "server/segments.h"

#include <cstring>

namespace reduction::server {

Refusal Segments::Bad(const std::string& field, const std::string& message) const {
  return Invalid("BAD_SEGMENTS", field_ + field, message);
}

std::string Segments::NameOf(uint64_t index) const {
  return field_ + ".offsets[" + std::to_string(index) + "]";
}

std::optional<Refusal> Segments::Start(uint64_t length, std::string_view offsets) {
  length_ = length;
  if (auto refusal = Append(offsets)) return refusal;
  return length_ != 0 && elements_ ? CheckAll(*elements_) : std::nullopt;
}

std::optional<Refusal> Segments::Append(std::string_view offsets) {
  if (offsets.empty()) return std::nullopt;
  if (length_ != 0) {
    return Bad(".offsets", field_ + ".length is " + std::to_string(length_) +
                               ", and there are offsets too; set one of both.");
  }
  if (closed_) {
    return Bad(".offsets",
               "Offsets of segments came after the first byte of data; send them before it.");
  }
  for (size_t at = 0; at < offsets.size(); at += sizeof(uint64_t)) {
    uint64_t value;
    memcpy(&value, offsets.data() + at, sizeof(value));
    if (auto refusal = CheckOffset(value)) return refusal;
    if (offset_count_ % kBlockOffsets == 0) {
      constexpr size_t kBlockBytes = kBlockOffsets * sizeof(uint64_t);
      if (auto refusal = admission_.GrowLease(kBlockBytes, &lease_)) return refusal;
      blocks_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kBlockOffsets));
    }
    blocks_.back()[offset_count_ % kBlockOffsets] = value;
    ++offset_count_;
  }
  return std::nullopt;
}

std::optional<Refusal> Segments::CheckOffset(uint64_t value) const {
  const uint64_t previous = offset_count_ == 0 ? 0 : offset(offset_count_ - 1);
  if (offset_count_ != 0 && value >= previous && (!elements_ || value <= *elements_)) {
    return std::nullopt;
  }
  if (offset_count_ == 0 && value == 0) return std::nullopt;
  const std::string is = NameOf(offset_count_) + " is " + std::to_string(value);
  if (offset_count_ == 0) return Bad(".offsets", is + "; the first offset must be 0.");
  if (value < previous) {
    return Bad(".offsets", is + ", less than " + std::to_string(previous) +
                               " before it; offsets must not decrease.");
  }
  return Bad(".offsets", is + ", and the array has " + std::to_string(*elements_) +
                             " elements; the last offset must be their number.");
}

std::optional<Refusal> Segments::Close(size_t bytes_per_segment) {
  closed_ = true;
  if (length_ == 0 && offset_count_ == 0) {
    return Bad("", field_ + ".length is 0 and there are no offsets; set one of both.");
  }
  if (elements_) {
    if (auto refusal = CheckAll(*elements_)) return refusal;
  }
  if (const auto segments = count()) return admission_.CheckSegments(*segments, bytes_per_segment);
  return std::nullopt;
}

std::optional<Refusal> Segments::CheckReceived(uint64_t elements) const {
  if (length_ != 0 || elements <= offset(offset_count_ - 1)) return std::nullopt;
  return CheckAll(elements);
}

std::optional<Refusal> Segments::CheckAll(uint64_t elements) const {
  if (length_ != 0) {
    if (elements % length_ == 0) return std::nullopt;
    return Bad(".length", field_ + ".length is " + std::to_string(length_) +
                              ", and the array has " + std::to_string(elements) +
                              " elements, no multiple of it; send whole segments.");
  }
  const uint64_t last = offset(offset_count_ - 1);
  if (last == elements) return std::nullopt;
  return Bad(".offsets", NameOf(offset_count_ - 1) + ", the last one, is " + std::to_string(last) +
                             ", and the array has " + std::to_string(elements) +
                             " elements; the last offset must be their number.");
}

std::optional<uint64_t> Segments::count() const {
  if (length_ == 0) return offset_count_ - 1;
  if (elements_) return *elements_ / length_;
  return std::nullopt;
}

}  // namespace reduction::server
