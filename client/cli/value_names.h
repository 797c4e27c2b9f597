// Words of the command line that name values. Each function gives none where a word names nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reduction/element_type.hpp"
#include "reduction/reduction.hpp"

namespace reduction::cli {

// What TypeNamed takes, for errors.
inline constexpr char kKnownTypes[] =
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64, f16 bf16 "
    "f32 f64 i16 i32 i64 u16 u32 u64, and NumPy's f2 f4 f8 i1 i2 i4 u1 u2 u4 <i8 <u8 (i8 and u8 "
    "alone can mean 8 bits or 8 bytes)";

std::optional<ElementType> TypeNamed(const std::string& name);

std::optional<Statistic> StatisticNamed(const std::string& name);
// Names separated by commas, each statistic once.
std::optional<std::vector<Statistic>> StatisticsNamed(const std::string& list);
// What StatisticNamed takes, for errors.
std::string KnownStatistics();

// auto, cpu, gpu, cuda, cuda:N.
std::optional<Device> DeviceNamed(const std::string& name);

// More than 0, up to 1e9.
std::optional<std::chrono::nanoseconds> SecondsNamed(const std::string& text);

std::optional<uint64_t> CountNamed(const std::string& text);
std::optional<uint64_t> PositiveNamed(const std::string& text);
// More than 0, finite.
std::optional<double> RateNamed(const std::string& text);

}  // namespace reduction::cli
