// Forms of other languages, which the parser meets as syntax errors: what to write instead.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

/// The help for an error that is about to be reported at the current token, if the tokens around it
/// have a form of Python, C++ or another language; null otherwise. `expected` is the first argument
/// of the message, often what the grammar allows there. Tokens before the innermost statement or
/// declaration are not looked at, because that is parsed again without them.
const char *foreignFormHelp(const Parser &p, DiagId id, std::string_view expected);

/// Whether a body by indentation begins at the current token: a `:` at the end of a line.
inline bool atIndentedBody(const Parser &p) {
  return p.at(TokenKind::Colon) && p.newlineAt(1) && p.kind(1) != TokenKind::EndOfFile;
}
/// The number of characters before the first token of the line on which the token lies.
uint32_t indentationOf(const Parser &p, TokenIndex token);

} // namespace ptl
