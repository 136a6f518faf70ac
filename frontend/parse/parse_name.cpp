#include "frontend/parse/parse_name.h"

namespace ptl {

NodeId parseName(Parser &p, const char *what) {
  if (p.at(TokenKind::Identifier))
    return p.leaf(NodeKind::Name);
  // Where a line begins with `kernel` the name is missing: the word begins the next declaration.
  bool isNear = p.position == p.itemStart || (p.continues() && !p.atBarrier());
  if ((isKeyword(p.kind()) || isElementType(p.kind())) && isNear) {
    bool isNumber = p.at(TokenKind::Inf) || p.at(TokenKind::Nan);
    // `int n` is how other languages declare a name.
    bool typeFirst = isElementType(p.kind()) && p.kind(1) == TokenKind::Identifier;
    std::string word(p.text());
    p.error(DiagId::ReservedWord, {word, what})
        .help(isNumber ? "`" + word + "` is a number by itself"
              : typeFirst
                  ? "the type follows the name: `" + std::string(p.text(1)) + ": " + word + "`"
                  : "choose another name");
    if (typeFirst)
      p.advance();
    NodeId name = p.leaf(NodeKind::Name);
    // The type that is missing behind the name is the same mistake.
    if (typeFirst)
      p.lastError = p.position;
    return name;
  }
  p.error(DiagId::ExpectedName, {what, p.found()});
  return p.missing();
}

NodeId parsePath(Parser &p, const char *what) {
  TokenIndex first = p.position;
  size_t start = p.mark();
  p.push(parseName(p, what));
  while (p.at(TokenKind::Dot) && p.continues()) {
    p.advance();
    p.push(parseName(p, "a name"));
  }
  TokenIndex main = p.position > first ? p.position - 1 : first;
  return p.finish(NodeKind::Path, first, main, start);
}

NodeId parseText(Parser &p) {
  if (p.at(TokenKind::StringLiteral))
    return p.leaf(NodeKind::StringLiteral);
  p.errorExpected("a string in double quotes");
  return p.missing();
}

NodeId parsePattern(Parser &p) {
  if (!p.at(TokenKind::LParen))
    return parseName(p, "a name");
  TokenIndex first = p.position;
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {});
  size_t start = p.mark();
  p.bracketed(TokenKind::RParen, [&] { return parsePattern(p); });
  return p.finish(NodeKind::TuplePattern, first, start);
}

} // namespace ptl
