// A diagnostic as JSON text, computed once per text and check, with the properties that typing.h
// needs. Files have many that a keystroke does not change.
#pragma once

#include "lsp/server/placed_text.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptl::lsp {

/// A diagnostic in the client's form. Its lines are relative to a line that moves with the text.
struct Finding {
  PlacedText text;   ///< an object
  uint32_t line = 0; ///< where it begins
  int severity = 1;  ///< a number of the protocol: 1 is an error, 2 a warning
  std::string code, message;
  size_t hash = 0; ///< of code and message
};

/// A finding and the line of the document to which its lines are relative.
struct PlacedFinding {
  std::shared_ptr<const Finding> finding;
  uint32_t origin = 0;

  const Finding *operator->() const { return finding.get(); }
  const Finding &operator*() const { return *finding; }
  uint32_t line() const { return origin + finding->line; }
  const std::string &text() const { return finding->text.at(origin); }
};

/// The contents of a finding.
struct FindingParts {
  int severity = 1;
  std::string code, message;
  std::string page = {};   ///< a URI that explains the code; empty: there is none to show
  bool isUnneeded = false; ///< editors may fade the text at its place
  std::vector<std::pair<ide::Location, std::string>> related = {};
};
/// A finding at a range of a file whose lines are relative to `origin`.
PlacedFinding findingAt(const Session &session, const ide::File &file, ide::Range range,
                        FindingParts parts, uint32_t origin = 0);

/// The findings as one JSON array.
std::string jsonText(const std::vector<PlacedFinding> &findings);

} // namespace ptl::lsp
