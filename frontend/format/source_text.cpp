#include "frontend/format/source_text.h"

namespace ptl {

uint32_t columnsOf(std::string_view text) {
  uint32_t columns = 0;
  for (char c : text)
    columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

std::string textOf(const Tree &tree, uint32_t begin, uint32_t end) {
  std::string text;
  std::string_view source = tree.fileText().substr(begin, end - begin);
  for (size_t i = 0; i < source.size(); ++i)
    if (source[i] != '\r' || i + 1 == source.size() || source[i + 1] != '\n')
      text += source[i];
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.pop_back();
  return text;
}

std::optional<uint32_t> lineStart(const Tree &tree, uint32_t offset) {
  constexpr uint32_t kFar = 1000;
  for (uint32_t at = offset; at > 0 && offset - at < kFar; --at)
    if (tree.fileText()[at - 1] == '\n')
      return at;
  return offset < kFar ? std::optional<uint32_t>(0) : std::nullopt;
}

uint32_t sourceColumn(const Tree &tree, uint32_t offset) {
  std::optional<uint32_t> start = lineStart(tree, offset);
  // Nothing is aligned that far to the right; the offset is like no other column.
  return start ? columnsOf(tree.fileText().substr(*start, offset - *start)) : offset;
}

} // namespace ptl
