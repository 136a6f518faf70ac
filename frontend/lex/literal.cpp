#include "frontend/lex/literal.h"

#include <algorithm>
#include <cstdlib>

namespace ptl {
namespace {

std::string withoutUnderscores(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != '_')
      result += c;
  return result;
}

int digitValue(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

void appendUtf8(std::string &out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

/// Reads `{1F600}` at `i`, which is left on the closing brace.
uint32_t readCodePoint(std::string_view text, size_t &i) {
  uint32_t value = 0;
  for (++i; i < text.size() && text[i] != '}'; ++i)
    if (text[i] != '{' && value < 0x110000)
      value = value * 16 + static_cast<uint32_t>(digitValue(text[i]));
  return value;
}

} // namespace

std::optional<uint64_t> intLiteralValue(std::string_view text) {
  uint64_t base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b')) {
    base = text[1] == 'x' ? 16 : 2;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  for (char c : text) {
    if (c == '_')
      continue;
    if (__builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(digitValue(c)), &value))
      return std::nullopt;
  }
  return value;
}

std::optional<uint64_t> sizeUnit(std::string_view word) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  for (unsigned i = 0; i < 4; ++i)
    if (word == kUnits[i])
      return uint64_t(1) << 10 * (i + 1);
  return std::nullopt;
}

std::optional<uint64_t> sizeLiteralValue(std::string_view text) {
  if (text.size() < 4)
    return std::nullopt;
  auto number = intLiteralValue(text.substr(0, text.size() - 3));
  auto unit = sizeUnit(text.substr(text.size() - 3));
  uint64_t value = 0;
  if (!number || !unit || __builtin_mul_overflow(*number, *unit, &value))
    return std::nullopt;
  return value;
}

double floatLiteralValue(std::string_view text) {
  return std::strtod(withoutUnderscores(text).c_str(), nullptr);
}

DecimalLiteral decimalLiteralValue(std::string_view text) {
  DecimalLiteral result;
  int64_t exponent = 0;
  bool fraction = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.')
      fraction = true;
    else if (text[i] != '_') {
      // Leading zeros are left out, so that the number of digits says how large the number is.
      if (text[i] != '0' || !result.digits.empty())
        result.digits += text[i];
      exponent -= fraction;
    }
  }
  if (i < text.size()) {
    bool negative = text[++i] == '-';
    int64_t written = 0;
    for (char c : text.substr(i))
      if (c >= '0' && c <= '9')
        // The exponent saturates: beyond this, every type overflows or rounds to 0.
        written = std::min<int64_t>(written * 10 + (c - '0'), 1'000'000'000);
    exponent += negative ? -written : written;
  }
  if (result.digits.empty())
    return {"0", 0};
  result.exponent = static_cast<int32_t>(std::clamp<int64_t>(exponent, -1'000'000, 1'000'000));
  return result;
}

std::string stringLiteralValue(std::string_view text) {
  std::string result;
  if (text.size() >= 2)
    text = text.substr(1, text.size() - 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    switch (text[++i]) {
    case 'n':
      result += '\n';
      break;
    case 't':
      result += '\t';
      break;
    case 'r':
      result += '\r';
      break;
    case '0':
      result += '\0';
      break;
    case 'u':
      appendUtf8(result, readCodePoint(text, i));
      break;
    default:
      result += text[i];
    }
  }
  return result;
}

} // namespace ptl
