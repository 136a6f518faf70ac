#include "compile/source_spans.h"

#include "frontend/base/word_char.h"
#include "ir/dialect/source_range.h"

#include <algorithm>
#include <vector>

namespace ptl {

Span spanOf(mlir::Location location) {
  std::vector<Span> spans = ir::rangesOf(location);
  return spans.empty() ? kNoSpan : spans.front();
}

Span spanAt(const SourceManager &sources, const LedgerPlace &place) {
  for (size_t id = 0; id < sources.size(); ++id) {
    const SourceFile &file = sources.file(static_cast<FileId>(id));
    if (file.path() != place.file || place.line == 0 || place.line > file.lineCount())
      continue;
    uint32_t begin = file.lineStart(place.line) + std::max(place.column, 1u) - 1, end = begin;
    std::string_view text = file.text();
    // A ledger knows where a word begins and not where it ends.
    while (end < text.size() && isWordChar(text[end]))
      ++end;
    return {static_cast<FileId>(id), begin, std::max(end, begin + 1)};
  }
  return kNoSpan;
}

} // namespace ptl
