// Applies the fixes of diagnostics.
#pragma once

#include "frontend/base/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

struct FixedText {
  std::string text;
  size_t applied = 0; ///< fixes that were applied
  size_t skipped =
      0; ///< fixes that were skipped because they overlap an earlier one, or concern another file
};

/// Applies the fixes to `text`, the content of `file`. A fix is applied either completely or not at
/// all; of two that overlap, the first wins. Two insertions at one place are both made, in order.
FixedText applyFixes(std::string_view text, FileId file, const std::vector<Fix> &fixes);

/// The single edit, from the first byte that differs to the last, that turns a file's text into
/// `after`.
TextEdit editTo(const SourceFile &file, std::string_view after);

/// A text that shows every fix of the diagnostics: its location, safety and title, and the lines
/// before and after it.
std::string shownFixes(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics);

} // namespace ptl
