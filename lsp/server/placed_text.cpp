#include "lsp/server/placed_text.h"

#include "lsp/server/session.h"

#include <algorithm>
#include <charconv>

namespace ptl::lsp {

void PlacedText::position(uint32_t line, uint32_t character) {
  text += "{\"line\":";
  holes.push_back({static_cast<uint32_t>(text.size()), line});
  text += ",\"character\":";
  text += std::to_string(character);
  text += '}';
}

void PlacedText::position(const Session &session, const ide::Chunk &chunk, ide::LineByte position) {
  std::string_view line = chunk.file.line(position.line + 1);
  this->position(position.line, session.length(line.substr(0, position.byte)));
}

void PlacedText::range(const Session &session, const ide::Chunk &chunk, ide::LineByte begin,
                       ide::LineByte end) {
  text += "{\"start\":";
  position(session, chunk, begin);
  text += ",\"end\":";
  position(session, chunk, end);
  text += '}';
}

static void addNumber(std::string &text, uint32_t number) {
  char digits[12];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

std::string PlacedText::part(size_t begin, size_t end, uint32_t line) const {
  std::string placed;
  placed.reserve(end - begin + 4 * holes.size());
  auto hole = std::partition_point(holes.begin(), holes.end(),
                                   [&](const Hole &each) { return each.at < begin; });
  for (; hole != holes.end() && hole->at < end; ++hole) {
    placed.append(text, begin, hole->at - begin);
    addNumber(placed, line + hole->line);
    begin = hole->at;
  }
  return placed.append(text, begin, end - begin);
}

const std::string &PlacedText::at(uint32_t line) const {
  if (placedAt_ != line)
    placed_ = part(0, text.size(), line);
  placedAt_ = line;
  return placed_;
}

/// Whether the text stands in JSON as it is. No branch in the loop, so that many bytes are looked at at once.
static bool isPlain(std::string_view text) {
  bool isOther = false;
  for (char each : text) {
    auto byte = static_cast<unsigned char>(each);
    isOther |= byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
  }
  return !isOther;
}

std::string jsonText(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + text.size() / 16 + 2);
  // Most lines of a source need nothing, which is seen faster than the library writes them.
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (isPlain(line)) {
      out += line;
    } else {
      std::string written = json(line).dump(-1, ' ', false, json::error_handler_t::replace);
      out.append(written, 1, written.size() - 2);
    }
    if (end < text.size())
      out += "\\n";
    begin = end + 1;
  }
  return out += '"';
}

json rawArray(const std::vector<const std::string *> &parts) {
  size_t size = 2;
  for (const std::string *part : parts)
    size += part->size() + 1;
  RawText all;
  all.reserve(size);
  all.push_back('[');
  for (const std::string *part : parts) {
    if (part->empty())
      continue;
    if (all.size() > 1)
      all.push_back(',');
    add(all, *part);
  }
  all.push_back(']');
  return rawJson(std::move(all));
}

} // namespace ptl::lsp
