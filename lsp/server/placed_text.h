// An answer about one chunk as JSON text, cached with the chunk. The numbers of its lines are
// inserted on use, because they depend on the chunk's place in the document.
#pragma once

#include "lsp/ide/workspace.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ptl::lsp {

using json = nlohmann::json;
class Session;

struct PlacedText {
  std::string text;
  struct Hole {
    uint32_t at;   ///< in `text`: the number goes before it
    uint32_t line; ///< relative to the line at which the text is placed, the first of a chunk
  };
  std::vector<Hole> holes;

  /// The whole text, given that the chunk's first line is `line`.
  const std::string &at(uint32_t line) const;
  /// The bytes of `text` from `begin` to `end`, with their line numbers.
  std::string part(size_t begin, size_t end, uint32_t line) const;

  void position(uint32_t line, uint32_t character);
  void position(const Session &session, const ide::Chunk &chunk, ide::LineByte position);
  void range(const Session &session, const ide::Chunk &chunk, ide::LineByte begin,
             ide::LineByte end);

private:
  // The last result of `at`, since most edits move no lines.
  mutable std::string placed_;
  mutable uint32_t placedAt_ = ~0u;
};

/// A text as JSON.
std::string jsonText(std::string_view text);
/// The parts as one JSON array; empty parts are left out.
json rawArray(const std::vector<const std::string *> &parts);

} // namespace ptl::lsp
