#include "frontend/base/utf8.h"

namespace ptl {

CodePoint decodeUtf8(std::string_view text, size_t offset) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80)
    return {lead, 1, true};
  unsigned length = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4 || offset + length > text.size())
    return {};
  char32_t value = lead & (0xFFu >> (length + 1));
  for (unsigned i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  // Overlong forms, surrogates and values past the last code point are not UTF-8.
  bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    return {};
  return {value, static_cast<uint8_t>(length), true};
}

unsigned displayWidth(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range combining[] = {
      {0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
  static constexpr Range wide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                                   {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                   {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  for (Range range : combining)
    if (c >= range.first && c <= range.last)
      return 0;
  for (Range range : wide)
    if (c >= range.first && c <= range.last)
      return 2;
  return 1;
}

size_t countCodePoints(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); i += decodeUtf8(text, i).length)
    ++count;
  return count;
}

} // namespace ptl
