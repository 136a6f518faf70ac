// Values of literal tokens. All functions take the text of a well-formed token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptl {

/// `42`, `0xff`, `0b101`, `1_000`; nothing if it does not fit 64 bits.
std::optional<uint64_t> intLiteralValue(std::string_view text);
/// `192KiB` in bytes; nothing if it does not fit 64 bits.
std::optional<uint64_t> sizeLiteralValue(std::string_view text);
/// `1.5`, `1e-6`: the nearest `double`; overflow gives infinity.
double floatLiteralValue(std::string_view text);
/// A decimal number without underscores, for exact arithmetic: `digits * 10^exponent`. The exponent
/// saturates at
/// +-1000000.
struct DecimalLiteral {
  std::string digits; ///< no leading zeros, "0" for zero
  int32_t exponent = 0;
};
DecimalLiteral decimalLiteralValue(std::string_view text);
/// The characters between the quotes, escapes replaced.
std::string stringLiteralValue(std::string_view text);
/// Bytes of a size unit (`KiB`), nothing for other words.
std::optional<uint64_t> sizeUnit(std::string_view word);

} // namespace ptl
