// A diagnostic as JSON text, made once for a text and a check, and what is asked of it while somebody
// types (typing.h). Files have many that no key changes.
#pragma once

#include "lsp/server/placed_text.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptl::lsp {

/// A diagnostic as a client gets it. Its lines count from a line that moves with the text.
struct Finding {
  PlacedText text;   ///< an object
  uint32_t line = 0; ///< where it begins
  int severity = 1;  ///< a number of the protocol: 1 is an error, 2 a warning
  std::string code, message;
  size_t hash = 0; ///< of code and message
};

/// A finding and the line of the document from which its lines count.
struct PlacedFinding {
  std::shared_ptr<const Finding> finding;
  uint32_t origin = 0;

  const Finding *operator->() const { return finding.get(); }
  const Finding &operator*() const { return *finding; }
  uint32_t line() const { return origin + finding->line; }
  const std::string &text() const { return finding->text.at(origin); }
};

/// What a finding says.
struct FindingParts {
  int severity = 1;
  std::string code, message;
  std::string page = {};   ///< a URI with what the code means; empty: there is none to show
  bool isUnneeded = false; ///< editors may show the text at its place paler
  std::vector<std::pair<ide::Location, std::string>> related = {};
};
/// A finding at a range of a file whose lines count from `origin`.
PlacedFinding findingAt(const Session &session, const ide::File &file, ide::Range range,
                        FindingParts parts, uint32_t origin = 0);

/// The findings as one JSON array.
std::string jsonText(const std::vector<PlacedFinding> &findings);

} // namespace ptl::lsp
