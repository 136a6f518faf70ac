// Carrying out the fixes of diagnostics.
#pragma once

#include "frontend/base/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

struct FixedText {
  std::string text;
  size_t applied = 0; ///< fixes carried out
  size_t skipped =
      0; ///< fixes left out because they touch what an earlier one edits, or another file
};

/// Applies the fixes to `text`, the content of `file`. A fix is carried out as a whole or not at
/// all; of two that overlap the first wins. Two insertions at one place are both made, in order.
FixedText applyFixes(std::string_view text, FileId file, const std::vector<Fix> &fixes);

/// The one edit, from the first byte that differs to the last, that makes `after` of a file's text.
TextEdit editTo(const SourceFile &file, std::string_view after);

/// Every fix of the diagnostics: place, safety and title, and the lines before and after.
std::string shownFixes(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics);

} // namespace ptl
