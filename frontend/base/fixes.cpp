#include "frontend/base/fixes.h"

#include "frontend/base/changed_part.h"

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
    // A fix is applied whole or not at all. Two fixes that insert the same text at one place are
    // most likely two reports of one fault, so the second is left out.
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
  // The sort is stable because several insertions at one place keep the order of their fixes.
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

TextEdit editTo(const SourceFile &file, std::string_view after) {
  ChangedPart part = changedPart(file.text(), after);
  return {{file.id(), static_cast<uint32_t>(part.begin), static_cast<uint32_t>(part.oldEnd)},
          std::string(after.substr(part.begin, part.newEnd - part.begin))};
}

/// Each line with a mark before it.
static void addLines(std::string &out, char mark, std::string_view lines) {
  while (!lines.empty()) {
    size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    std::string_view line = lines.substr(0, end);
    out += mark;
    out += ' ';
    out += line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
    out += '\n';
    lines.remove_prefix(end);
  }
}

/// The lines that differ: from the first to the last of them.
static void addChange(std::string &out, std::string_view before, std::string_view after) {
  ChangedPart part = changedPart(before, after);
  size_t same = part.begin, tail = before.size() - part.oldEnd;
  while (same > 0 && before[same - 1] != '\n')
    --same;
  while (tail > 0 && before[before.size() - tail - 1] != '\n')
    --tail;
  addLines(out, '-', before.substr(same, before.size() - tail - same));
  addLines(out, '+', after.substr(same, after.size() - tail - same));
}

std::string shownFixes(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics) {
  std::string out;
  for (const Diagnostic &diagnostic : diagnostics)
    for (const Fix &fix : diagnostic.fixes) {
      if (fix.edits.empty())
        continue;
      FileId id = fix.edits.front().span.file;
      const SourceFile &file = sources.file(id);
      LineColumn place = file.lineColumn(fix.edits.front().span.begin);
      out += file.path() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
             ": " + fixSafetyName(fixInfo(fix.id).safety) + ": " + fix.title + "\n";
      addChange(out, file.text(), applyFixes(file.text(), id, {fix}).text);
    }
  return out;
}

} // namespace ptl
