#include "client/cli/input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace reduction::cli {
namespace {

// A file that goes away with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& suffix = "")
      : name_(testing::TempDir() + "reduction_input_XXXXXX" + suffix) {
    const int fd = mkstemps(name_.data(), static_cast<int>(suffix.size()));
    EXPECT_GE(fd, 0);
    close(fd);
    std::ofstream(name_, std::ios::binary) << content;
  }
  ~TemporaryFile() { unlink(name_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

std::string Npy(const std::string& descr, uint64_t count, const std::string& data) {
  std::string dictionary = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" +
                           std::to_string(count) + ",), }";
  dictionary.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + dictionary + "\n" + data;
}

std::string Text(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Everything that Read gives, in steps of `step` bytes.
Result<std::string> ReadAll(ArrayInput* input, size_t step) {
  std::string all;
  std::vector<std::byte> piece(step);
  for (size_t got = step; got == step;) {
    const Result<size_t> read = input->Read(piece);
    if (!read.ok()) return read.status();
    got = *read;
    all += Text(std::span(piece).first(got));
  }
  return all;
}

TEST(ArrayInput, MapsLargeFilesAtAnyOffset) {
  std::string data(3 << 20, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7 / 3);
  const TemporaryFile file(Npy("<f4", data.size() / 4, data));
  auto input = ArrayInput::Open(file.name(), {});
  ASSERT_TRUE(input.ok()) << input.status().message;
  ASSERT_NE(input->memory(), nullptr);
  EXPECT_EQ(Text(input->memory()->bytes), data);
  EXPECT_EQ(input->count(), data.size() / 4);
  EXPECT_EQ(*ReadAll(&*input, 4096), data);
  EXPECT_TRUE(input->CheckUnchanged().ok());
  ASSERT_EQ(truncate(file.name().c_str(), 1000), 0);
  EXPECT_EQ(input->CheckUnchanged().code, StatusCode::kDataLoss);
}

TEST(ArrayInput, ConvertsBigEndianNumbers) {
  for (const size_t count : {2, 1 << 20}) {
    std::string big, little;
    for (size_t i = 0; i < count; ++i) {
      big += "\1\2";
      little += "\2\1";
    }
    const TemporaryFile file(Npy(">u2", count, big));
    auto input = ArrayInput::Open(file.name(), {});
    ASSERT_TRUE(input.ok()) << input.status().message;
    if (input->memory() != nullptr) {
      EXPECT_EQ(Text(input->memory()->bytes), little);
    }
    EXPECT_EQ(*ReadAll(&*input, 4096), little);
  }
}

TEST(ArrayInput, RefusesFilesWhoseLengthIsNotWhatTheHeaderSays) {
  for (const size_t bytes : {0, 11, 13, 16}) {
    const TemporaryFile file(Npy("<f4", 3, std::string(bytes, 'x')));
    const auto input = ArrayInput::Open(file.name(), {});
    EXPECT_EQ(input.status().code, StatusCode::kInvalidArgument) << bytes;
    EXPECT_NE(input.status().message.find(file.name()), std::string::npos);
  }
}

TEST(ArrayInput, TakesRawNumbersOnlyWithTheirType) {
  const TemporaryFile file("12345678");
  EXPECT_FALSE(ArrayInput::Open(file.name(), {}).ok());
  const auto input = ArrayInput::Open(file.name(), ElementType::kInt16);
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(input->count(), 4u);
  EXPECT_EQ(Text(input->memory()->bytes), "12345678");
  const TemporaryFile odd("123");
  EXPECT_FALSE(ArrayInput::Open(odd.name(), ElementType::kInt16).ok());
  const TemporaryFile named("12345678", ".npy");
  EXPECT_FALSE(ArrayInput::Open(named.name(), ElementType::kInt16).ok());
}

TEST(ArrayInput, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(ArrayInput::Open("/no/such/file", {}).status().code, StatusCode::kNotFound);
  EXPECT_FALSE(ArrayInput::Open(testing::TempDir(), {}).ok());
}

// A pipe with a name, written by a thread.
class Fifo {
 public:
  explicit Fifo(std::string content)
      : name_(testing::TempDir() + "reduction_fifo_" + std::to_string(getpid())) {
    EXPECT_EQ(mkfifo(name_.c_str(), 0600), 0);
    writer_ = std::thread([this, content = std::move(content)] {
      std::ofstream(name_, std::ios::binary) << content;
    });
  }
  ~Fifo() {
    writer_.join();
    unlink(name_.c_str());
  }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::thread writer_;
};

TEST(ArrayInput, ReadsPipesInPieces) {
  const std::string data(100'000, 'd');
  for (const bool npy : {true, false}) {
    const Fifo fifo(npy ? Npy("<f8", data.size() / 8, data) : data);
    auto input =
        ArrayInput::Open(fifo.name(), npy ? std::nullopt : std::optional(ElementType::kFloat64));
    ASSERT_TRUE(input.ok()) << input.status().message;
    EXPECT_EQ(input->memory(), nullptr);
    EXPECT_EQ(input->count().has_value(), npy);
    EXPECT_EQ(*ReadAll(&*input, 8192), data);
  }
}

TEST(ArrayInput, RefusesPipesThatEndEarlyOrLate) {
  for (const std::string& content :
       {Npy("<f8", 3, std::string(23, 'x')), Npy("<f8", 3, std::string(25, 'x'))}) {
    for (const size_t step : {8, 24, 32}) {
      const Fifo fifo(content);
      auto input = ArrayInput::Open(fifo.name(), {});
      ASSERT_TRUE(input.ok()) << input.status().message;
      EXPECT_EQ(ReadAll(&*input, step).status().code, StatusCode::kInvalidArgument) << step;
    }
  }
  const Fifo fifo("12345");
  auto input = ArrayInput::Open(fifo.name(), ElementType::kFloat32);
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(ReadAll(&*input, 8).status().code, StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace reduction::cli
