// The lexer: text to tokens. It never fails; what it cannot read becomes `Invalid` or malformed
// tokens.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/lex/token.h"

namespace ptl {

/// Splits a file into tokens and trivia that cover its every byte, in linear time. Always ends in
/// `EndOfFile`. Errors of characters, numbers, text and comments go to `sink`, at most 100 of them.
TokenList lex(const SourceFile &file, DiagnosticSink &sink);

} // namespace ptl
