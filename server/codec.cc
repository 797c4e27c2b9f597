#include "server/codec.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <climits>
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

}  // namespace

std::optional<Refusal> Decode(const grpc::ByteBuffer& buffer, int last_array_field,
                              google::protobuf::MessageLite* options, ByteQueue* x, ByteQueue* y,
                              bool* complete) {
  std::vector<grpc::Slice> slices;
  if (buffer.Length() > INT_MAX || !buffer.Dump(&slices).ok()) return Malformed();

  SliceStream stream(slices);
  io::CodedInputStream input(&stream);
  input.SetTotalBytesLimit(INT_MAX);
  std::string option_bytes;
  std::optional<Range> ranges[2];
  {
    io::StringOutputStream option_stream(&option_bytes);
    io::CodedOutputStream option_output(&option_stream);
    while (const uint32_t tag = input.ReadTag()) {
      const int field = WireFormatLite::GetTagFieldNumber(tag);
      if (field >= kXField && field <= last_array_field &&
          WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        int length;
        if (!input.ReadVarintSizeAsInt(&length)) return Malformed();
        const auto begin = static_cast<size_t>(input.CurrentPosition());
        if (!input.Skip(length)) return Malformed();
        ranges[field - kXField] = {begin, begin + static_cast<size_t>(length)};
      } else if (!WireFormatLite::SkipField(&input, tag, &option_output)) {
        return Malformed();
      }
      if (static_cast<size_t>(option_output.ByteCount()) > kMaxOptionBytes) {
        return Invalid("OPTIONS_TOO_LARGE", "",
                       "The fields other than array bytes take more than the limit of " +
                           std::to_string(kMaxOptionBytes) + " bytes; send fewer or smaller ones.");
      }
    }
  }
  if (!input.ConsumedEntireMessage() || !options->ParseFromString(option_bytes)) return Malformed();
  if (ranges[0]) PushRange(slices, *ranges[0], x);
  if (ranges[1]) PushRange(slices, *ranges[1], y);
  if (complete != nullptr) *complete = ranges[0] && (last_array_field == kXField || ranges[1]);
  return std::nullopt;
}

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace reduction::server
