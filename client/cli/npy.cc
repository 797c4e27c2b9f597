#include "client/cli/npy.h"

#include <string>
#include <utility>

namespace reduction::cli {
namespace {

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr int kMaxDimensions = 64;

Status Malformed(const std::string& what) {
  return {StatusCode::kInvalidArgument, "malformed .npy header: " + what, {}, {}};
}

Status Refused(const std::string& what) { return {StatusCode::kInvalidArgument, what, {}, {}}; }

// The dictionary of a header, as written.
struct Dictionary {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<uint64_t> count;  // product of the shape
  uint64_t last_axis = 1;
  uint64_t rows = 1;  // the product of the axes before the last one
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, keys in any order.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Dictionary> Parse() {
    Dictionary dictionary;
    if (!Take('{')) return Malformed("no dictionary");
    while (!Take('}')) {
      const std::optional<std::string_view> key = TakeString();
      if (!key.has_value() || !Take(':')) return Malformed("no key");
      const Status status = TakeValue(*key, &dictionary);
      if (!status.ok()) return status;
      if (Take(',')) continue;
      if (Take('}')) break;
      return Malformed("no comma after the value of '" + std::string(*key) + "'");
    }
    SkipSpace();
    if (!text_.empty()) return Malformed("text after the dictionary");
    if (!dictionary.descr || !dictionary.fortran_order || !dictionary.count) {
      return Malformed("'descr', 'fortran_order' or 'shape' is missing");
    }
    return dictionary;
  }

 private:
  void SkipSpace() {
    const size_t space = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(space == std::string_view::npos ? text_.size() : space);
  }

  bool Take(char c) {
    SkipSpace();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> TakeString() {
    SkipSpace();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view content = text_.substr(1, end - 1);
    if (content.find('\\') != std::string_view::npos) return std::nullopt;
    text_.remove_prefix(end + 1);
    return content;
  }

  Status TakeValue(std::string_view key, Dictionary* dictionary) {
    if (key == "descr" && !dictionary->descr) {
      SkipSpace();
      if (!text_.empty() && (text_.front() == '[' || text_.front() == '(')) {
        return Refused("structured arrays are not supported: save one field as its own array");
      }
      dictionary->descr = TakeString();
      return dictionary->descr ? Status{} : Malformed("'descr' is no string");
    }
    if (key == "fortran_order" && !dictionary->fortran_order) {
      if (TakeWord("True")) dictionary->fortran_order = true;
      if (!dictionary->fortran_order && TakeWord("False")) dictionary->fortran_order = false;
      return dictionary->fortran_order ? Status{} : Malformed("'fortran_order' is no bool");
    }
    if (key == "shape" && !dictionary->count) return TakeShape(dictionary);
    return Malformed("a key is unknown or occurs twice");
  }

  // (), (3,), (3, 4): not (3), which is a number.
  Status TakeShape(Dictionary* dictionary) {
    if (!Take('(')) return Malformed("'shape' is no tuple");
    uint64_t count = 1;
    bool empty = false;
    bool too_large = false;
    bool comma = true;
    int dimensions = 0;
    while (!Take(')')) {
      uint64_t length = 0;
      if (!comma || !TakeLength(&length)) return Malformed("'shape' is no tuple of lengths");
      if (++dimensions > kMaxDimensions) return Malformed("'shape' has too many dimensions");
      if (dimensions > 1 &&
          __builtin_mul_overflow(dictionary->rows, dictionary->last_axis, &dictionary->rows)) {
        dictionary->rows = UINT64_MAX;
      }
      empty = empty || length == 0;
      too_large = too_large || __builtin_mul_overflow(count, length, &count);
      comma = Take(',');
      dictionary->last_axis = length;
    }
    if (dimensions == 1 && !comma) return Malformed("'shape' is no tuple");
    if (too_large && !empty) return Malformed("'shape' has more elements than 64 bits can count");
    dictionary->count = empty ? 0 : count;
    return {};
  }

  bool TakeLength(uint64_t* length) {
    SkipSpace();
    size_t digits = 0;
    *length = 0;
    while (digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9') {
      const uint64_t digit = static_cast<uint64_t>(text_[digits] - '0');
      if (__builtin_mul_overflow(*length, uint64_t{10}, length) ||
          __builtin_add_overflow(*length, digit, length)) {
        return false;
      }
      ++digits;
    }
    if (digits == 0 || (digits > 1 && text_.front() == '0')) return false;
    text_.remove_prefix(digits);
    if (!text_.empty() && text_.front() == 'L') text_.remove_prefix(1);  // Python 2 wrote it
    return true;
  }

  std::string_view text_;
};

struct Descr {
  std::string_view code;
  ElementType type;
};
constexpr Descr kDescrs[] = {
    {"f2", ElementType::kFloat16}, {"f4", ElementType::kFloat32}, {"f8", ElementType::kFloat64},
    {"i1", ElementType::kInt8},    {"i2", ElementType::kInt16},   {"i4", ElementType::kInt32},
    {"i8", ElementType::kInt64},   {"u1", ElementType::kUint8},   {"u2", ElementType::kUint16},
    {"u4", ElementType::kUint32},  {"u8", ElementType::kUint64},  {"b1", ElementType::kUint8},
};

// '<f4': byte order, kind and bytes of an element.
Status ParseDescr(std::string_view descr, std::optional<ElementType> dtype, NpyHeader* header) {
  const std::string quoted = std::string("'").append(descr).append("'");
  const char order = descr.empty() ? ' ' : descr.front();
  if (order != '<' && order != '>' && order != '|' && order != '=') {
    return Malformed("'descr' is " + quoted);
  }
  const std::string_view code = descr.substr(1);
  if (code.starts_with('O')) {
    return Refused("arrays of Python objects are not supported: convert them to numbers");
  }
  if (code == "V2" && dtype == ElementType::kBfloat16 && order != '>') {
    header->type = ElementType::kBfloat16;
    return {};
  }
  if (const std::optional<ElementType> type = TypeOfNumPyCode(code)) {
    const bool one_byte = ElementSize(*type) == 1;
    if (order == '|' && !one_byte) return Malformed("'descr' is " + quoted);
    header->type = *type;
    header->big_endian = order == '>' && !one_byte;
    return {};
  }
  return Refused("elements of NumPy type " + quoted +
                 " are not supported: convert them to floats of 16 to 64 bits or integers" +
                 (code == "V2" ? " (or give --dtype=bfloat16 if that is what they are)" : ""));
}

}  // namespace

std::optional<ElementType> TypeOfNumPyCode(std::string_view code) {
  for (const Descr& known : kDescrs) {
    if (known.code == code) return known.type;
  }
  return std::nullopt;
}

Result<size_t> NpyDataOffset(std::string_view preamble) {
  if (preamble.size() < kNpyPreambleBytes || !preamble.starts_with(kNpyMagic)) {
    return Malformed("the file is too short");
  }
  const auto byte = [&](size_t i) { return size_t{static_cast<unsigned char>(preamble[i])}; };
  const size_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0) {
    return Malformed("version " + std::to_string(major) + "." + std::to_string(byte(7)) +
                     " is not known: 1.0, 2.0 and 3.0 are");
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > kMaxHeaderBytes) {
    return Malformed("it has " + std::to_string(length) + " bytes, at most " +
                     std::to_string(kMaxHeaderBytes) + " are read");
  }
  return 8 + length_bytes + length;
}

Result<NpyHeader> ParseNpyHeader(std::string_view start, std::optional<ElementType> dtype) {
  const Result<size_t> offset = NpyDataOffset(start.substr(0, kNpyPreambleBytes));
  if (!offset.ok()) return offset.status();
  if (start.size() != *offset) return Malformed("the file ends inside it");
  const size_t preamble = start[6] == 1 ? 10 : 12;
  const Result<Dictionary> dictionary = Parser(start.substr(preamble)).Parse();
  if (!dictionary.ok()) return dictionary.status();

  NpyHeader header;
  const Status status = ParseDescr(*dictionary->descr, dtype, &header);
  if (!status.ok()) return status;
  if (dtype.has_value() && *dtype != header.type) {
    return Refused("the .npy file holds " + std::string(ElementTypeName(header.type)) +
                   ", not the " + std::string(ElementTypeName(*dtype)) + " of --dtype");
  }
  header.count = *dictionary->count;
  if (!*dictionary->fortran_order) header.row_length = dictionary->last_axis;
  header.rows = dictionary->rows;
  if (header.count > static_cast<uint64_t>(INT64_MAX) / ElementSize(header.type)) {
    return Malformed("'shape' has more bytes than 63 bits can count");
  }
  return header;
}

}  // namespace reduction::cli
