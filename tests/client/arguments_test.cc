#include "client/cli/arguments.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace reduction::cli {
namespace {

using std::chrono_literals::operator""ms;

Result<ParsedLine> Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "reduction");
  return ParseArguments(static_cast<int>(words.size()), words.data());
}

TEST(Arguments, HaveTheDocumentedDefaults) {
  unsetenv("REDUCTION_TARGET");
  const auto line = Parse({"sum", "a.npy"});
  ASSERT_TRUE(line.ok()) << line.status().message;
  const Arguments& arguments = *line->arguments;
  EXPECT_EQ(arguments.command, Command::kSum);
  EXPECT_EQ(arguments.files, std::vector<std::string>{"a.npy"});
  EXPECT_EQ(arguments.target, "127.0.0.1:50051");
  EXPECT_EQ(arguments.connections, 1);
  EXPECT_FALSE(arguments.dtype.has_value());
  EXPECT_FALSE(arguments.options.timeout.has_value());
  EXPECT_EQ(arguments.options.algorithm, Algorithm::kAuto);
  EXPECT_EQ(arguments.options.device.kind, Device::Kind::kAuto);
  EXPECT_EQ(arguments.options.nan_policy, NanPolicy::kPropagate);
  EXPECT_EQ(arguments.options.overflow, OverflowPolicy::kWrap);
  EXPECT_FALSE(arguments.json);
}

TEST(Arguments, StandBeforeAndAfterTheCommand) {
  const auto line = Parse({"--json", "--target=a:1,b:2", "--dtype", "f32", "dot", "x", "-",
                           "--device=cuda:2", "--algorithm=two-pass", "--nan=ignore",
                           "--overflow=check", "--timeout=0.5", "--connections=4"});
  ASSERT_TRUE(line.ok()) << line.status().message;
  const Arguments& arguments = *line->arguments;
  EXPECT_EQ(arguments.command, Command::kDot);
  EXPECT_EQ(arguments.files, (std::vector<std::string>{"x", "-"}));
  EXPECT_EQ(arguments.target, "a:1,b:2");
  EXPECT_EQ(arguments.dtype, ElementType::kFloat32);
  EXPECT_EQ(arguments.options.device.kind, Device::Kind::kGpu);
  EXPECT_EQ(arguments.options.device.ordinal, 2u);
  EXPECT_EQ(arguments.options.algorithm, Algorithm::kTwoPass);
  EXPECT_EQ(arguments.options.nan_policy, NanPolicy::kIgnore);
  EXPECT_EQ(arguments.options.overflow, OverflowPolicy::kCheck);
  EXPECT_EQ(arguments.options.timeout, 500ms);
  EXPECT_EQ(arguments.connections, 4);
  EXPECT_TRUE(arguments.json);
}

TEST(Arguments, CutTheArrayInOneWay) {
  EXPECT_FALSE(Parse({"sum", "x"})->arguments->has_segments());
  EXPECT_EQ(Parse({"sum", "x", "--segment-length=5"})->arguments->segment_length, 5u);
  EXPECT_EQ(Parse({"--segment-offsets=o.npy", "stats", "x"})->arguments->segment_offsets, "o.npy");
  EXPECT_TRUE(Parse({"max", "--rows", "x"})->arguments->rows);
  for (const std::vector<const char*>& words : std::vector<std::vector<const char*>>{
           {"sum", "x", "--rows", "--segment-length=5"},
           {"sum", "x", "--rows", "--segment-offsets=o"},
           {"sum", "x", "--segment-length=5", "--segment-offsets=o"},
           {"sum", "x", "--segment-length=-5"},
           {"sum", "x", "--segment-offsets=-"},
           {"info", "--rows"}}) {
    EXPECT_EQ(Parse(words).status().code, StatusCode::kInvalidArgument) << words.back();
  }
}

TEST(Arguments, OfBenchHaveTheDocumentedDefaults) {
  const auto line = Parse({"bench"});
  ASSERT_TRUE(line.ok()) << line.status().message;
  const BenchArguments& bench = line->arguments->bench;
  EXPECT_EQ(line->arguments->command, Command::kBench);
  EXPECT_EQ(line->arguments->dtype, ElementType::kFloat32);
  EXPECT_EQ(bench.op, Command::kSum);
  EXPECT_EQ(bench.bytes, uint64_t{1} << 20);
  EXPECT_EQ(bench.concurrency, 1);
  EXPECT_EQ(bench.duration, std::chrono::seconds(10));
  EXPECT_FALSE(bench.requests.has_value());
  EXPECT_FALSE(bench.rate.has_value());
}

TEST(Arguments, DescribeTheLoadOfBench) {
  const auto line = Parse({"bench", "--op=mixed", "--size=3MiB", "--dtype=f64", "--connections=4",
                           "--requests=7", "--rate=0.5", "--segment-length=3", "--stats=mean"});
  ASSERT_TRUE(line.ok()) << line.status().message;
  const BenchArguments& bench = line->arguments->bench;
  EXPECT_FALSE(bench.op.has_value());
  EXPECT_EQ(bench.bytes, uint64_t{3} << 20);
  EXPECT_EQ(bench.concurrency, 4);
  EXPECT_FALSE(bench.duration.has_value());
  EXPECT_EQ(bench.requests, 7u);
  EXPECT_EQ(bench.rate, 0.5);
  const auto other = Parse({"bench", "--elements=5", "--dtype=i16", "--concurrency=9",
                            "--requests=7", "--duration=0.25"});
  ASSERT_TRUE(other.ok()) << other.status().message;
  EXPECT_EQ(other->arguments->bench.bytes, 10u);
  EXPECT_EQ(other->arguments->bench.concurrency, 9);
  EXPECT_EQ(other->arguments->bench.duration, 250ms);
}

TEST(Arguments, RefuseWhatBenchCannotDo) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{"bench", "x.npy"},
                                             {"bench", "--op=mean"},
                                             {"bench", "--op"},
                                             {"bench", "--size=0"},
                                             {"bench", "--size=-4"},
                                             {"bench", "--size=6"},
                                             {"bench", "--size=4Mega"},
                                             {"bench", "--size=2TiB"},
                                             {"bench", "--elements=0"},
                                             {"bench", "--elements=1000000000000"},
                                             {"bench", "--elements=1", "--size=4"},
                                             {"bench", "--concurrency=0"},
                                             {"bench", "--duration=0"},
                                             {"bench", "--duration=10s"},
                                             {"bench", "--requests=0"},
                                             {"bench", "--requests=-1"},
                                             {"bench", "--rate=0"},
                                             {"bench", "--rate=inf"},
                                             {"bench", "--rows"},
                                             {"bench", "--segment-offsets=o.npy"},
                                             {"bench", "--segment-length=3", "--elements=4"},
                                             {"bench", "--stats=mean"},
                                             {"sum", "x", "--op=sum"},
                                             {"info", "--requests=1"},
                                             {"sum", "x", "--size=4"}}) {
    const auto line = Parse(words);
    EXPECT_EQ(line.status().code, StatusCode::kInvalidArgument) << testing::PrintToString(words);
    EXPECT_EQ(line.status().message.find('\n'), std::string::npos);
  }
}

TEST(Arguments, TargetComesFromTheEnvironmentUnlessGiven) {
  setenv("REDUCTION_TARGET", "unix:/tmp/x", 1);
  EXPECT_EQ(Parse({"health"})->arguments->target, "unix:/tmp/x");
  EXPECT_EQ(Parse({"health", "--target=a:1"})->arguments->target, "a:1");
  unsetenv("REDUCTION_TARGET");
}

TEST(Arguments, TakeNumPyNamesAndShortNamesOfTypes) {
  EXPECT_EQ(Parse({"sum", "-", "--dtype=bfloat16"})->arguments->dtype, ElementType::kBfloat16);
  EXPECT_EQ(Parse({"sum", "-", "--dtype=bf16"})->arguments->dtype, ElementType::kBfloat16);
  EXPECT_EQ(Parse({"sum", "-", "--dtype=uint8"})->arguments->dtype, ElementType::kUint8);
}

TEST(Arguments, TakeNumPyCodesOfTypes) {
  const std::pair<const char*, ElementType> codes[] = {
      {"f2", ElementType::kFloat16},  {"f4", ElementType::kFloat32}, {"f8", ElementType::kFloat64},
      {"i1", ElementType::kInt8},     {"i2", ElementType::kInt16},   {"i4", ElementType::kInt32},
      {"u1", ElementType::kUint8},    {"u2", ElementType::kUint16},  {"u4", ElementType::kUint32},
      {"<i8", ElementType::kInt64},   {"<u8", ElementType::kUint64}, {"<f4", ElementType::kFloat32},
      {"=f8", ElementType::kFloat64}, {"=i8", ElementType::kInt64},  {"|u1", ElementType::kUint8},
      {"i16", ElementType::kInt16},   {"u64", ElementType::kUint64}};
  for (const auto& [code, type] : codes) {
    const auto line = Parse({"sum", "-", "--dtype", code});
    ASSERT_TRUE(line.ok()) << line.status().message;
    EXPECT_EQ(line->arguments->dtype, type) << code;
  }
}

TEST(Arguments, ListTheTypesWhenOneIsUnknown) {
  for (const char* wrong : {"int", ">f4", "<f3", "<", "", "f16x"}) {
    const std::string message = Parse({"sum", "-", "--dtype", wrong}).status().message;
    EXPECT_NE(message.find("float32"), std::string::npos) << wrong << ": " << message;
  }
  // Every name of the list is one.
  const std::string message = Parse({"sum", "-", "--dtype=int"}).status().message;
  const size_t begin = message.find("known are ") + 10;
  std::istringstream list(message.substr(begin, message.find('(') - begin));
  int names = 0;
  for (std::string name; list >> name;) {
    if (name.back() == ',') name.pop_back();
    if (name == "and" || name == "NumPy's") continue;
    EXPECT_TRUE(Parse({"sum", "-", "--dtype", name.c_str()}).ok()) << name;
    ++names;
  }
  EXPECT_GE(names, 12 + 10 + 11);
}

// Eight bits for some, eight bytes for NumPy: guessing would give a wrong sum without a word.
TEST(Arguments, RefuseTypesThatCouldBeTwo) {
  for (const char* name : {"i8", "u8"}) {
    const std::string message = Parse({"sum", "-", "--dtype", name}).status().message;
    EXPECT_NE(message.find("8 bits or 8 bytes"), std::string::npos) << message;
  }
}

TEST(Arguments, SayWhereStatisticsAreThatAreNoCommands) {
  for (const char* name : {"argmax", "mean", "std", "nan_count"}) {
    const std::string message = Parse({"--json", name, "x.npy"}).status().message;
    EXPECT_NE(message.find(std::string("reduction stats --stats=") + name + " FILE"),
              std::string::npos)
        << message;
  }
  EXPECT_NE(Parse({"product", "x"}).status().message.find("\"product\" is no command"),
            std::string::npos);
  EXPECT_NE(Parse({"--bogus", "x"}).status().message.find("--bogus is no option"),
            std::string::npos);
  EXPECT_NE(Parse({}).status().message.find("a command is required"), std::string::npos);
}

TEST(Arguments, ListStatisticsOnce) {
  const auto line = Parse({"stats", "-", "--stats=std,sum,var,sum"});
  ASSERT_TRUE(line.ok()) << line.status().message;
  EXPECT_EQ(line->arguments->statistics,
            (std::vector{Statistic::kStandardDeviation, Statistic::kSum, Statistic::kVariance}));
}

TEST(Arguments, FilesMayHaveNamesOfCommandsAndOptions) {
  EXPECT_EQ(Parse({"max", "max"})->arguments->files, std::vector<std::string>{"max"});
  EXPECT_EQ(Parse({"sum", "--", "-x"})->arguments->files, std::vector<std::string>{"-x"});
}

TEST(Arguments, WrongLinesAreOneSentence) {
  const std::vector<std::vector<const char*>> lines = {{},
                                                       {"product", "x"},
                                                       {"sum"},
                                                       {"sum", "x", "y"},
                                                       {"dot", "x"},
                                                       {"dot", "-", "-"},
                                                       {"sum", "x", "--dtype=int"},
                                                       {"sum", "x", "--device=cuda:"},
                                                       {"sum", "x", "--device=cuda:-1"},
                                                       {"sum", "x", "--timeout=0"},
                                                       {"sum", "x", "--timeout=nan"},
                                                       {"sum", "x", "--timeout=1s"},
                                                       {"sum", "x", "--connections=0"},
                                                       {"sum", "x", "--ddof=-1"},
                                                       {"sum", "x", "--nan"},
                                                       {"sum", "x", "--unknown"},
                                                       {"sum", "x", "--stats=sum"},
                                                       {"stats", "x", "--stats=dot"},
                                                       {"stats", "x", "--stats="},
                                                       {"health", "x"}};
  for (const auto& words : lines) {
    const auto line = Parse(words);
    EXPECT_EQ(line.status().code, StatusCode::kInvalidArgument) << testing::PrintToString(words);
    EXPECT_EQ(line.status().message.find('\n'), std::string::npos);
  }
}

TEST(Arguments, ListsTheStatisticsWhereOneIsUnknown) {
  const std::string message = Parse({"stats", "x", "--stats=median"}).status().message;
  for (const char* const name : {"sum", "argmin", "standard_deviation", "nonzero_count", "var"}) {
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
}

TEST(Arguments, HelpAndVersionAreTexts) {
  const auto help = Parse({"--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_FALSE(help->arguments.has_value());
  for (const char* word :
       {"--target",   "--connections", "--dtype",    "--algorithm", "--device",      "--nan",
        "--overflow", "--ddof",        "--timeout",  "--json",      "--stats",       "sum",
        "min",        "max",           "dot",        "stats",       "bench",         "health",
        "info",       "--op",          "--size",     "--elements",  "--concurrency", "--duration",
        "--requests", "--rate",        "Exit status"}) {
    EXPECT_NE(help->text.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(Parse({"sum", "--help"})->text, help->text);
  EXPECT_FALSE(Parse({"--version"})->text.empty());
}

}  // namespace
}  // namespace reduction::cli
