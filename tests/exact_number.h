// Exact sums and products of doubles, as fixed-point numbers of some thousand bits.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace reduction::testing {

// A multiple of 2^-2176 of magnitude below 2^2431: any sum of up to 2^64 products of two finite
// doubles. Two's complement, the lowest word first.
class ExactNumber {
 public:
  void Add(double x) { AddProduct(x, 1); }

  // Adds x * y; both finite.
  void AddProduct(double x, double y) {
    if (x == 0 || y == 0) return;
    int x_exponent = 0;
    int y_exponent = 0;
    const auto x_digits = static_cast<int64_t>(std::ldexp(std::frexp(x, &x_exponent), 53));
    const auto y_digits = static_cast<int64_t>(std::ldexp(std::frexp(y, &y_exponent), 53));
    const __int128 product = static_cast<__int128>(x_digits) * y_digits;
    const bool negative = product < 0;
    // The digits of a product that starts below the lowest bit end in zeros.
    auto magnitude = static_cast<Wide>(negative ? -product : product);
    int bit = x_exponent + y_exponent - 2 * 53 + kFractionBits;
    for (; bit < 0; ++bit) magnitude >>= 1;
    const size_t shift = static_cast<size_t>(bit) % 64;
    const Wide low = magnitude << shift;
    const uint64_t top = shift == 0 ? 0 : static_cast<uint64_t>(magnitude >> (128 - shift));
    const uint64_t added[3] = {static_cast<uint64_t>(low), static_cast<uint64_t>(low >> 64), top};
    bool carry = false;
    const size_t first = static_cast<size_t>(bit) / 64;
    for (size_t i = first; i < kWords && (i < first + 3 || carry); ++i) {
      const uint64_t addend = i < first + 3 ? added[i - first] : 0;
      const Wide old = words_[i];
      const Wide sum = negative ? old - addend - (carry ? 1 : 0) : old + addend + (carry ? 1 : 0);
      words_[i] = static_cast<uint64_t>(sum);
      carry = (sum >> 64) != 0;
    }
  }

  friend ExactNumber operator-(const ExactNumber& a, const ExactNumber& b) {
    ExactNumber difference;
    Wide borrow = 0;
    for (size_t i = 0; i < kWords; ++i) {
      const Wide word = static_cast<Wide>(a.words_[i]) - b.words_[i] - borrow;
      difference.words_[i] = static_cast<uint64_t>(word);
      borrow = (word >> 64) & 1;
    }
    return difference;
  }

  // The product of the magnitude and a number.
  ExactNumber MagnitudeTimes(uint64_t factor) const {
    const ExactNumber magnitude = Magnitude();
    ExactNumber product;
    Wide carry = 0;
    for (size_t i = 0; i < kWords; ++i) {
      const Wide word = static_cast<Wide>(magnitude.words_[i]) * factor + carry;
      product.words_[i] = static_cast<uint64_t>(word);
      carry = word >> 64;
    }
    return product;
  }

  // Of a multiple of 2^-1088 of magnitude below 2^1088: any sum of up to 2^63 doubles.
  ExactNumber Squared() const {
    const ExactNumber magnitude = Magnitude();
    const uint64_t* const digits = magnitude.words_.data() + kFractionBits / 2 / 64;
    constexpr size_t kDigits = kFractionBits / 64;
    ExactNumber square;
    for (size_t i = 0; i < kDigits; ++i) {
      Wide carry = 0;
      for (size_t j = 0; j <= kDigits; ++j) {
        const Wide word = static_cast<Wide>(digits[i]) * (j < kDigits ? digits[j] : 0) +
                          square.words_[i + j] + carry;
        square.words_[i + j] = static_cast<uint64_t>(word);
        carry = word >> 64;
      }
    }
    return square;
  }

  bool negative() const { return words_.back() >> 63 != 0; }

  // The neighbours in float64 of the magnitude: one not below it, one not above it.
  double MagnitudeFromAbove() const {
    if (*this == ExactNumber()) return 0;
    return std::nextafter(NearMagnitude(), std::numeric_limits<double>::infinity());
  }
  double MagnitudeFromBelow() const { return std::nextafter(NearMagnitude(), 0.0); }

  friend bool operator==(const ExactNumber&, const ExactNumber&) = default;

 private:
  using Wide = unsigned __int128;
  static constexpr int kFractionBits = 34 * 64;
  static constexpr size_t kWords = 72;

  ExactNumber Magnitude() const { return negative() ? ExactNumber() - *this : *this; }

  // Within one rounding.
  double NearMagnitude() const {
    const ExactNumber magnitude = Magnitude();
    size_t top = kWords - 1;
    while (top > 1 && magnitude.words_[top] == 0) --top;
    const Wide digits = static_cast<Wide>(magnitude.words_[top]) << 64 | magnitude.words_[top - 1];
    return std::ldexp(static_cast<double>(digits),
                      64 * (static_cast<int>(top) - 1) - kFractionBits);
  }

  std::array<uint64_t, kWords> words_{};
};

}  // namespace reduction::testing
