// The lexer: splits text into tokens. It never fails; what it cannot read becomes `Invalid` or
// malformed tokens.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/lex/token.h"

namespace ptl {

/// Splits a file into tokens and trivia that together cover every byte, in linear time. The last
/// token is always `EndOfFile`. Errors of characters, numbers, text and comments are reported to
/// `sink`, at most 100 of them.
TokenList lex(const SourceFile &file, DiagnosticSink &sink);
/// The same for a part of a file that begins at the start of a line; offsets are relative to the
/// beginning of `text`.
TokenList lex(FileId file, std::string_view text, DiagnosticSink &sink, bool isFileStart);

} // namespace ptl
