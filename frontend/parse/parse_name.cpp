// Names, paths, text and patterns.
#include "frontend/parse/parser.h"

namespace ptl {

NodeId Parser::parseName(const char *what) {
  if (at(TokenKind::Identifier))
    return leaf(NodeKind::Name);
  // Where a line begins with `kernel` the name is missing: the word begins the next declaration.
  bool isNear = at_ == itemStart_ || (continues() && !atBarrier());
  if ((isKeyword(kind()) || isElementType(kind())) && isNear) {
    bool isNumber = at(TokenKind::Inf) || at(TokenKind::Nan);
    error(DiagId::ReservedWord, {std::string(text()), what})
        .help(isNumber ? "`" + std::string(text()) + "` is a number by itself"
                       : "choose another name");
    return leaf(NodeKind::Name);
  }
  error(DiagId::ExpectedName, {what, found()});
  return missing();
}

NodeId Parser::parsePath(const char *what) {
  TokenIndex first = at_;
  size_t start = mark();
  push(parseName(what));
  while (at(TokenKind::Dot) && continues()) {
    advance();
    push(parseName("a name"));
  }
  TokenIndex main = at_ > first ? at_ - 1 : first;
  return finish(NodeKind::Path, first, main, start);
}

NodeId Parser::parseText() {
  if (at(TokenKind::StringLiteral))
    return leaf(NodeKind::StringLiteral);
  errorExpected("text in double quotes");
  return missing();
}

NodeId Parser::parsePattern() {
  if (!at(TokenKind::LParen))
    return parseName("a name");
  TokenIndex first = at_;
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return make(NodeKind::Error, first, {});
  size_t start = mark();
  bracketed(TokenKind::RParen, [&] { return parsePattern(); });
  return finish(NodeKind::TuplePattern, first, start);
}

} // namespace ptl
