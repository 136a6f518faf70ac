// The parser: text to syntax tree.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/syntax/tree.h"

namespace ptl {

/// Errors of the parser in one file; the next one says that there are more.
inline constexpr size_t kMaxSyntaxErrors = 100;

/// Parses a file, which must outlive the tree. Never fails: what cannot be understood becomes
/// `Error` nodes, and parsing goes on at the next statement, bracket or declaration. Time and
/// memory are linear in the text, the stack is bounded. Errors of the lexer are reported too.
Tree parse(const SourceFile &file, DiagnosticSink &sink);

/// The first lines of a text, up to the end of a line with which a declaration ends. The chunks of
/// a file, parsed one after the other, give the declarations and diagnostics of the whole file.
struct ParsedChunk {
  Tree tree;     ///< of the text `[0, size)`, which `Tree::moveTo` may put elsewhere
  uint32_t size; ///< of the chunk, in bytes
  /// The chunk depends on the bytes `[0, reach)` of the text alone. When that is all of it, the
  /// text may have been too short.
  uint32_t reach;
};

/// Parses the first chunk of `text`, which begins at the start of a line, in the ways of `parse`.
/// The chunk has no declaration when there is none before the end of `text`.
ParsedChunk parseChunk(FileId file, std::string_view text, bool isFileStart, DiagnosticSink &sink);

} // namespace ptl
