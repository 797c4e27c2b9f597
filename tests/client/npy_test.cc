#include "client/cli/npy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reduction::cli {
namespace {

// A file up to its data, as version `major` has it.
std::string Start(const std::string& dictionary, int major = 1) {
  std::string start(kNpyMagic);
  start += static_cast<char>(major);
  start += '\0';
  size_t length = dictionary.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i, length >>= 8) {
    start += static_cast<char>(length & 0xff);
  }
  return start + dictionary;
}

std::string Dictionary(const std::string& descr, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }   \n";
}

Result<NpyHeader> Parse(const std::string& dictionary, std::optional<ElementType> dtype = {}) {
  return ParseNpyHeader(Start(dictionary), dtype);
}

TEST(NpyHeader, GivesTypeOrderAndCount) {
  const auto header = Parse(Dictionary("'>i8'", "(3, 4)"));
  ASSERT_TRUE(header.ok()) << header.status().message;
  EXPECT_EQ(header->type, ElementType::kInt64);
  EXPECT_TRUE(header->big_endian);
  EXPECT_EQ(header->count, 12u);
}

TEST(NpyHeader, GivesTheLengthOfRowsInCOrder) {
  EXPECT_EQ(Parse(Dictionary("'<i8'", "(3, 4)"))->row_length, 4u);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "(7,)"))->row_length, 7u);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "(2, 0)"))->row_length, 0u);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "()"))->row_length, 1u);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "()"))->rows, 1u);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "(7,)"))->rows, 1u);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "(2, 3, 0)"))->rows, 6u);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "(4294967296, 4294967296, 0)"))->rows, UINT64_MAX);
  EXPECT_EQ(Parse(Dictionary("'<i8'", "(4294967296, 4294967296, 0, 5)"))->rows, 0u);
  EXPECT_FALSE(Parse("{'descr': '<i8', 'fortran_order': True, 'shape': (3, 4), }")->row_length);
}

TEST(NpyHeader, KnowsEveryTypeThatNumPyWrites) {
  const std::vector<std::pair<std::string, ElementType>> descrs = {
      {"<f2", ElementType::kFloat16}, {"<f4", ElementType::kFloat32},
      {"<f8", ElementType::kFloat64}, {"|i1", ElementType::kInt8},
      {"<i2", ElementType::kInt16},   {"<i4", ElementType::kInt32},
      {"<i8", ElementType::kInt64},   {"|u1", ElementType::kUint8},
      {"<u2", ElementType::kUint16},  {"<u4", ElementType::kUint32},
      {"<u8", ElementType::kUint64},  {"|b1", ElementType::kUint8}};
  for (const auto& [descr, type] : descrs) {
    const auto header = Parse(Dictionary("'" + descr + "'", "(1,)"));
    ASSERT_TRUE(header.ok()) << descr << ": " << header.status().message;
    EXPECT_EQ(header->type, type) << descr;
    EXPECT_FALSE(header->big_endian) << descr;
  }
}

TEST(NpyHeader, ReadsAllVersionsAndKeyOrders) {
  for (const int major : {1, 2, 3}) {
    const std::string start =
        Start("{\"shape\": (2L,), 'fortran_order': True, 'descr': '=f4'}\n", major);
    const auto header = ParseNpyHeader(start, {});
    ASSERT_TRUE(header.ok()) << header.status().message;
    EXPECT_EQ(header->count, 2u);
    const auto offset = NpyDataOffset(start.substr(0, kNpyPreambleBytes));
    ASSERT_TRUE(offset.ok());
    EXPECT_EQ(*offset, start.size());
  }
}

TEST(NpyHeader, CountsScalarsAndEmptyArrays) {
  EXPECT_EQ(Parse(Dictionary("'<f4'", "()"))->count, 1u);
  EXPECT_EQ(Parse(Dictionary("'<f4'", "(0,)"))->count, 0u);
  EXPECT_EQ(Parse(Dictionary("'<f4'", "(9223372036854775807, 9223372036854775807, 0)"))->count, 0u);
}

TEST(NpyHeader, RefusesElementsThatAreNoNumbersWithAReason) {
  const auto structured = Parse(Dictionary("[('a', '<f4')]", "(1,)"));
  EXPECT_NE(structured.status().message.find("structured"), std::string::npos);
  const auto objects = Parse(Dictionary("'|O'", "(1,)"));
  EXPECT_NE(objects.status().message.find("objects"), std::string::npos);
  for (const char* descr : {"<c8", "<f16", "<U3", "|S4", "<M8[ns]", "|V8", "<i3", "<b1x"}) {
    const auto header = Parse(Dictionary(std::string("'") + descr + "'", "(1,)"));
    EXPECT_EQ(header.status().code, StatusCode::kInvalidArgument) << descr;
    EXPECT_NE(header.status().message.find(descr), std::string::npos) << descr;
  }
}

TEST(NpyHeader, TakesVoidAsBfloat16OnlyWhenTold) {
  const std::string dictionary = Dictionary("'|V2'", "(4,)");
  EXPECT_FALSE(Parse(dictionary).ok());
  EXPECT_FALSE(Parse(dictionary, ElementType::kFloat16).ok());
  const auto header = Parse(dictionary, ElementType::kBfloat16);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->type, ElementType::kBfloat16);
}

TEST(NpyHeader, RefusesAnotherTypeThanAsked) {
  EXPECT_FALSE(Parse(Dictionary("'<f4'", "(1,)"), ElementType::kFloat64).ok());
  EXPECT_TRUE(Parse(Dictionary("'<f4'", "(1,)"), ElementType::kFloat32).ok());
}

TEST(NpyHeader, RefusesShapesThatNoMemoryHolds) {
  for (const char* shape : {"(18446744073709551616,)", "(4294967296, 4294967296, 2)",
                            "(9223372036854775807,)", "(99999999999999999999999999999999999,)"}) {
    EXPECT_FALSE(Parse(Dictionary("'<f8'", shape)).ok()) << shape;
  }
}

TEST(NpyHeader, RefusesEverythingThatIsNoDictionaryOfThreeKeys) {
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + {}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<\\x66', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}"}) {
    EXPECT_EQ(Parse(text).status().code, StatusCode::kInvalidArgument) << text;
  }
}

TEST(NpyHeader, RefusesShapesThatAreNoTuplesOfLengths) {
  for (const char* shape : {"(1)", "(-1,)", "(1.0,)", "(1 2)", "(,)", "(01,)", "(1,,)", "[1]",
                            "((1,),)", "(1,", "(0x1,)", "1", "(True,)"}) {
    EXPECT_FALSE(Parse(Dictionary("'<f4'", shape)).ok()) << shape;
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  EXPECT_FALSE(Parse(Dictionary("'<f4'", deep + ")")).ok());
}

TEST(NpyHeader, RefusesEveryTruncation) {
  const std::string start = Start(Dictionary("'<f4'", "(3,)"));
  for (size_t length = 0; length < start.size(); ++length) {
    EXPECT_FALSE(ParseNpyHeader(start.substr(0, length), {}).ok()) << length;
  }
}

TEST(NpyHeader, RefusesLongHeadersAndOtherVersions) {
  const std::string huge = std::string(kNpyMagic) + std::string("\2\0\0\0\0\x7f", 6);
  EXPECT_FALSE(NpyDataOffset(huge).ok());
  for (const int major : {0, 4, 255}) {
    EXPECT_FALSE(ParseNpyHeader(Start(Dictionary("'<f4'", "(3,)"), major), {}).ok()) << major;
  }
}

}  // namespace
}  // namespace reduction::cli
