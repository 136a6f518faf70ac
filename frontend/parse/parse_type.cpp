// Types: `f16[M, K] @mat dn strides [S, 1] over host by M, chip by K`.
#include "frontend/parse/parser.h"

namespace ptl {

bool Parser::atLayout() const {
  bool isLayout = false;
#define LAYOUT(ID, NAME) isLayout |= atWord(NAME);
#include "frontend/base/layouts.def"
  return isLayout && continues();
}

NodeId Parser::parseType() {
  TokenIndex first = at_;
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return make(NodeKind::Error, first, {});
  NodeId base = kNoNode;
  if (isElementType(kind())) {
    base = leaf(NodeKind::ElementType);
  } else if (atWord("_")) {
    base = leaf(NodeKind::InferredType);
  } else if (atWord("acc") && kind(1) == TokenKind::LParen) {
    advance();
    size_t start = mark();
    bracketed(TokenKind::RParen, [&] { return parseType(); });
    if (mark() == start) {
      error(DiagId::ExpectedType, {found()});
      push(missing());
    }
    base = finish(NodeKind::AccType, first, start);
  } else if (at(TokenKind::Identifier)) {
    NodeId path = parsePath("a type");
    base = make(NodeKind::NamedType, first, {path});
  } else if (at(TokenKind::LParen)) {
    size_t start = mark();
    bracketed(TokenKind::RParen, [&] { return parseType(); });
    return finish(NodeKind::TupleType, first, start);
  } else if (at(TokenKind::At)) {
    Span at = tree_.tokenSpan(at_);
    error(DiagId::ExpectedType, {found()})
        .fix(FixId::PlaceBehindName, "a place stands behind its type, which may be `_`",
             {{{at.file, at.begin, at.begin}, "_ "}});
    parsePlace();
    return missing();
  } else {
    error(DiagId::ExpectedType, {found()});
    return missing();
  }
  NodeId shape = kNoNode, place = kNoNode, strides = kNoNode, distribution = kNoNode;
  if (at(TokenKind::LBracket) && continues())
    shape = parseShape();
  while (continues()) {
    if (at(TokenKind::At) && place == kNoNode) {
      place = parsePlace();
    } else if (atWord("strides") && strides == kNoNode) {
      advance();
      if (at(TokenKind::LBracket))
        strides = parseShape();
      else
        expect(TokenKind::LBracket);
    } else if (atDistribution() && distribution == kNoNode) {
      distribution = parseDistribution();
    } else {
      break;
    }
  }
  if (shape == kNoNode && place == kNoNode && strides == kNoNode && distribution == kNoNode)
    return base;
  return make(NodeKind::ArrayType, first, {base, shape, place, strides, distribution});
}

NodeId Parser::parseShape() {
  TokenIndex first = at_;
  size_t start = mark();
  bracketed(TokenKind::RBracket, [&] { return parseShapeItem(); });
  return finish(NodeKind::Shape, first, start);
}

NodeId Parser::parseShapeItem() {
  return at(TokenKind::DotDot) ? leaf(NodeKind::RestIndex) : parseExpr();
}

NodeId Parser::parsePlace() {
  TokenIndex first = at_;
  expect(TokenKind::At);
  NodeId name = parseName("a place");
  NodeId layout = atLayout() ? leaf(NodeKind::Name) : kNoNode;
  return make(NodeKind::Place, first, {name, layout});
}

/// `at chip 0` is where an array lies; `at host` behind the results is who orchestrates.
bool Parser::atDistribution() const {
  return atWord("over") || (atWord("partial") && kind(1) == TokenKind::LParen) ||
         (atWord("at") && kind(1) == TokenKind::Identifier && kind(2) == TokenKind::IntLiteral);
}

NodeId Parser::parseDistribution() {
  TokenIndex first = at_;
  size_t start = mark();
  while (continues() && atDistribution()) {
    if (atWord("partial")) {
      push(parseOwedItem());
    } else if (atWord("at")) {
      push(parsePartItem());
    } else {
      push(parseCutItem());
      // `, chip by F` goes on; `, w: f32[F]` is the next parameter.
      while (at(TokenKind::Comma) && kind(1) == TokenKind::Identifier &&
             (atWord("by", 2) || kind(2) == TokenKind::Comma))
        push(parseCutItem());
    }
  }
  return finish(NodeKind::Distribution, first, start);
}

/// Behind `over`, or the comma behind another item.
NodeId Parser::parseCutItem() {
  TokenIndex first = at_;
  advance();
  TokenIndex listFirst = at_;
  size_t start = mark();
  do
    push(parseName("a level of the machine"));
  while (accept(TokenKind::Comma));
  NodeId levels = finish(NodeKind::NameList, listFirst, start);
  NodeId axis = expectWord("by") ? parseBinary(Precedence::Or) : missing();
  return make(NodeKind::CutItem, first, {levels, axis});
}

NodeId Parser::parseOwedItem() {
  TokenIndex first = at_, fold = at_ + 2;
  advance();
  advance();
  if (at(TokenKind::Plus) || atWord("max") || atWord("min"))
    advance();
  else
    errorExpected("`+`, `max` or `min`");
  expect(TokenKind::RParen);
  expectWord("over");
  TokenIndex listFirst = at_;
  size_t start = mark();
  push(parseName("a level of the machine"));
  while (at(TokenKind::Comma) && kind(1) == TokenKind::Identifier && kind(2) != TokenKind::Colon) {
    advance();
    push(parseName("a level of the machine"));
  }
  NodeId levels = finish(NodeKind::NameList, listFirst, start);
  return make(NodeKind::OwedItem, first, fold, {levels});
}

NodeId Parser::parsePartItem() {
  TokenIndex first = at_;
  advance();
  NodeId level = parseName("a level of the machine");
  return make(NodeKind::PartItem, first, {level, leaf(NodeKind::IntLiteral)});
}

} // namespace ptl
