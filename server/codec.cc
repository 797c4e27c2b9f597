#include "server/codec.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

namespace reduction::server {
namespace {

using google::protobuf::internal::WireFormatLite;
namespace io = google::protobuf::io;

// Reads the slices of a message in place.
class SliceStream final : public io::ZeroCopyInputStream {
 public:
  explicit SliceStream(const std::vector<grpc::Slice>& slices) : slices_(slices) {}

  bool Next(const void** data, int* size) override {
    while (index_ < slices_.size() && offset_ == slices_[index_].size()) {
      ++index_;
      offset_ = 0;
    }
    if (index_ == slices_.size()) return false;
    *data = slices_[index_].begin() + offset_;
    *size = static_cast<int>(slices_[index_].size() - offset_);
    offset_ = slices_[index_].size();
    count_ += *size;
    return true;
  }
  void BackUp(int count) override {
    offset_ -= static_cast<size_t>(count);
    count_ -= count;
  }
  bool Skip(int count) override {
    const void* data;
    int size;
    while (count > 0) {
      if (!Next(&data, &size)) return false;
      if (size > count) BackUp(size - count);
      count -= std::min(size, count);
    }
    return true;
  }
  int64_t ByteCount() const override { return count_; }

 private:
  const std::vector<grpc::Slice>& slices_;
  size_t index_ = 0;
  size_t offset_ = 0;
  int64_t count_ = 0;
};

struct Range {
  size_t begin = 0;
  size_t end = 0;
};

void PushRange(const std::vector<grpc::Slice>& slices, Range range, ByteQueue* queue) {
  size_t start = 0;
  for (const grpc::Slice& slice : slices) {
    const size_t begin = std::max(range.begin, start);
    const size_t end = std::min(range.end, start + slice.size());
    if (begin < end) queue->Push(slice, begin - start, end - start);
    start += slice.size();
  }
}

Refusal Malformed() {
  return Invalid("MALFORMED_MESSAGE", "",
                 "The message is not a valid protobuf encoding of this method's request type.");
}

// Takes array bytes and offsets out of a message; the rest goes to another one.
class Splitter {
 public:
  // `size`: bytes of all slices.
  Splitter(const std::vector<grpc::Slice>& slices, size_t size, const DataFields& fields)
      : fields_(fields), size_(size), stream_(slices), input_(&stream_) {
    input_.SetTotalBytesLimit(INT_MAX);
  }

  std::optional<Refusal> Split(std::string* options) { return SplitMessage(0, options); }

  const std::optional<Range>& range(int array) const { return ranges_[array]; }
  // The offsets in Segments, then those that continue them.
  std::string TakeOffsets() { return std::move(offsets_.append(more_offsets_)); }

 private:
  // Reads one message, which lies `depth` steps along the path to the offsets.
  std::optional<Refusal> SplitMessage(size_t depth, std::string* rest) {
    io::StringOutputStream rest_stream(rest);
    io::CodedOutputStream output(&rest_stream);
    while (const uint32_t tag = input_.ReadTag()) {
      const int field = WireFormatLite::GetTagFieldNumber(tag);
      const bool is_length =
          WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
      const bool on_path =
          depth < fields_.offsets_path.size() && field == fields_.offsets_path[depth];
      const bool last = depth + 1 == fields_.offsets_path.size();
      if (depth == 0 && is_length && field >= kXField && field <= fields_.last_array_field) {
        if (!ReadArray(field - kXField)) return Malformed();
      } else if (depth == 0 && field == fields_.more_offsets_field && IsNumbers(tag)) {
        if (auto refusal = ReadOffsets(is_length, &more_offsets_)) return refusal;
      } else if (on_path && last && IsNumbers(tag)) {
        if (auto refusal = ReadOffsets(is_length, &offsets_)) return refusal;
      } else if (on_path && !last && is_length) {
        if (auto refusal = SplitField(depth, tag, &output)) return refusal;
      } else if (!WireFormatLite::SkipField(&input_, tag, &output)) {
        return Malformed();
      }
      if (static_cast<size_t>(output.ByteCount()) > kMaxOptionBytes) {
        return Invalid(
            "OPTIONS_TOO_LARGE", "",
            "The fields other than array bytes and offsets take more than the limit of " +
                std::to_string(kMaxOptionBytes) + " bytes; send fewer or smaller ones.");
      }
    }
    return input_.ConsumedEntireMessage() ? std::nullopt : std::optional(Malformed());
  }

  // A message in a field: what is left of it goes to `output` under the same tag.
  std::optional<Refusal> SplitField(size_t depth, uint32_t tag, io::CodedOutputStream* output) {
    int length;
    if (!input_.ReadVarintSizeAsInt(&length)) return Malformed();
    // Bytes that are not there, in this message or at all: protobuf would reserve memory for them.
    const int available = input_.BytesUntilLimit();
    if (available >= 0 && length > available) return Malformed();
    if (static_cast<size_t>(input_.CurrentPosition() + int64_t{length}) > size_) return Malformed();
    const auto outer = input_.PushLimit(length);
    std::string inner;
    if (auto refusal = SplitMessage(depth + 1, &inner)) return refusal;
    if (input_.BytesUntilLimit() != 0) return Malformed();
    input_.PopLimit(outer);
    output->WriteTag(tag);
    output->WriteVarint32(static_cast<uint32_t>(inner.size()));
    output->WriteString(inner);
    return std::nullopt;
  }

  bool ReadArray(int array) {
    int length;
    if (!input_.ReadVarintSizeAsInt(&length)) return false;
    const auto begin = static_cast<size_t>(input_.CurrentPosition());
    if (!input_.Skip(length)) return false;
    ranges_[array] = {begin, begin + static_cast<size_t>(length)};
    return true;
  }

  static bool IsNumbers(uint32_t tag) {
    const auto type = WireFormatLite::GetTagWireType(tag);
    return type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
           type == WireFormatLite::WIRETYPE_FIXED64;
  }

  std::optional<Refusal> ReadOffsets(bool packed, std::string* offsets) {
    int length = sizeof(uint64_t);
    if (packed && !input_.ReadVarintSizeAsInt(&length)) return Malformed();
    if (length % static_cast<int>(sizeof(uint64_t)) != 0) return Malformed();
    // By the pieces that are there: a length that lies reserves nothing.
    while (length > 0) {
      const void* piece;
      int size;
      if (!input_.GetDirectBufferPointer(&piece, &size)) return Malformed();
      size = std::min(size, length);
      offsets->append(static_cast<const char*>(piece), static_cast<size_t>(size));
      input_.Skip(size);
      length -= size;
    }
    return std::nullopt;
  }

  const DataFields& fields_;
  const size_t size_;
  SliceStream stream_;
  io::CodedInputStream input_;
  std::optional<Range> ranges_[2];
  std::string offsets_;
  std::string more_offsets_;
};

}  // namespace

std::optional<Refusal> Decode(const grpc::ByteBuffer& buffer, const DataFields& fields,
                              google::protobuf::MessageLite* options, MessageData* data) {
  std::vector<grpc::Slice> slices;
  if (buffer.Length() > INT_MAX || !buffer.Dump(&slices).ok()) return Malformed();
  Splitter splitter(slices, buffer.Length(), fields);
  std::string option_bytes;
  if (auto refusal = splitter.Split(&option_bytes)) return refusal;
  if (!options->ParseFromString(option_bytes)) return Malformed();
  const auto& x = splitter.range(0);
  const auto& y = splitter.range(1);
  if (x) PushRange(slices, *x, &data->x);
  if (y) PushRange(slices, *y, &data->y);
  data->has_x = x.has_value();
  data->has_y = y.has_value();
  data->offsets = splitter.TakeOffsets();
  return std::nullopt;
}

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace reduction::server
