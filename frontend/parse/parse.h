// The parser: builds the syntax tree of a text.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/syntax/tree.h"

namespace ptl {

/// The maximal number of syntax errors reported in one file; a further one only states that there
/// are more.
inline constexpr size_t kMaxSyntaxErrors = 100;

/// Parses a file, which must outlive the tree. It never fails: text that it cannot parse becomes
/// `Error` nodes, and parsing continues at the next statement, bracket or declaration. Time and
/// memory are linear in the length of the text, and the stack is bounded. Errors of the lexer are
/// reported too.
Tree parse(const SourceFile &file, DiagnosticSink &sink);

/// The first lines of a text, up to the end of the line on which a declaration ends. The chunks of
/// a file, parsed in sequence, give the declarations and diagnostics of the whole file.
struct ParsedChunk {
  Tree tree;     ///< of the text `[0, size)`, which `Tree::moveTo` may put elsewhere
  uint32_t size; ///< of the chunk, in bytes
  /// The chunk depends only on the bytes `[0, reach)` of the text. If that is the whole text, more
  /// text might change the chunk.
  uint32_t reach;
};

/// Parses the first chunk of `text`, which begins at the start of a line, in the manner of `parse`.
/// The chunk has no declaration if there is none in `text`.
ParsedChunk parseChunk(FileId file, std::string_view text, bool isFileStart, DiagnosticSink &sink);

} // namespace ptl
