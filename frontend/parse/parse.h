// The parser: text to syntax tree.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/syntax/tree.h"

namespace ptl {

/// Parses a file, which must outlive the tree. Never fails: what cannot be understood becomes
/// `Error` nodes, and parsing goes on at the next statement, bracket or declaration. Time and
/// memory are linear in the text, the stack is bounded. Errors of the lexer are reported too.
Tree parse(const SourceFile &file, DiagnosticSink &sink);

} // namespace ptl
