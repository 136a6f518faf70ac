// The lexer: text to tokens. It never fails; what it cannot read becomes `Invalid` or malformed
// tokens.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/lex/token.h"

namespace ptl {

/// Splits a file into tokens and trivia that cover its every byte, in linear time. Always ends in
/// `EndOfFile`. Errors of characters, numbers, text and comments go to `sink`, at most 100 of them.
TokenList lex(const SourceFile &file, DiagnosticSink &sink);
/// The same of a part of a file that begins with a line; offsets count from the beginning of
/// `text`.
TokenList lex(FileId file, std::string_view text, DiagnosticSink &sink, bool isFileStart);

} // namespace ptl
