#include "frontend/base/fixes.h"

#include <algorithm>

namespace ptl {

static bool overlaps(Span a, Span b) {
  if (a.begin == a.end && b.begin == b.end)
    return false;
  return a.begin < b.end && b.begin < a.end;
}

FixedText applyFixes(std::string_view text, FileId file, const std::vector<Fix> &fixes) {
  FixedText result;
  std::vector<const TextEdit *> edits;
  for (const Fix &fix : fixes) {
    bool fits = std::all_of(fix.edits.begin(), fix.edits.end(), [&](const TextEdit &edit) {
      return edit.span.file == file && edit.span.end <= text.size() &&
             std::none_of(edits.begin(), edits.end(), [&](const TextEdit *other) {
               return overlaps(edit.span, other->span) ||
                      (edit.span == other->span && edit.text == other->text);
             });
    });
    ++(fits ? result.applied : result.skipped);
    if (fits)
      for (const TextEdit &edit : fix.edits)
        edits.push_back(&edit);
  }
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit *a, const TextEdit *b) {
    return a->span.begin < b->span.begin;
  });
  size_t done = 0;
  for (const TextEdit *edit : edits) {
    result.text.append(text, done, edit->span.begin - done);
    result.text += edit->text;
    done = edit->span.end;
  }
  result.text.append(text, done);
  return result;
}

} // namespace ptl
