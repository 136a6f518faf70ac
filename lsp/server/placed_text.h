// The answer about one chunk as JSON text that is kept with the chunk, but for the numbers of its
// lines, which depend on where the chunk stands.
#pragma once

#include "lsp/server/session.h"

#include <string>
#include <vector>

namespace ptl::lsp {

struct PlacedText {
  std::string text;
  struct Hole {
    uint32_t at;   ///< in `text`: the number goes before it
    uint32_t line; ///< in the chunk
  };
  std::vector<Hole> holes;

  /// The whole text where the first line of the chunk is `line`.
  const std::string &at(uint32_t line) const;
  /// The bytes of `text` from `begin` to `end` with their numbers.
  std::string part(size_t begin, size_t end, uint32_t line) const;

  void position(const Session &session, const ide::Chunk &chunk, ide::LineByte position);
  void range(const Session &session, const ide::Chunk &chunk, ide::LineByte begin,
             ide::LineByte end);

private:
  // Where the chunk stood last: most edits move no lines.
  mutable std::string placed_;
  mutable uint32_t placedAt_ = ~0u;
};

/// A text as JSON.
std::string jsonText(std::string_view text);
/// The parts as one JSON array, as an answer; empty ones are left out.
json rawArray(const std::vector<const std::string *> &parts);

} // namespace ptl::lsp
