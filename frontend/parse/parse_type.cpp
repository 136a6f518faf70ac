#include "frontend/parse/parse_type.h"

#include "frontend/parse/parse_expr.h"
#include "frontend/parse/parse_name.h"

namespace ptl {

static NodeId parseShapeItem(Parser &p);
static bool atDistribution(const Parser &p);
static NodeId parseDistribution(Parser &p);
static NodeId parseCutItem(Parser &p);
static NodeId parsePartialItem(Parser &p);
static NodeId parsePartItem(Parser &p);

static bool atLayout(const Parser &p) {
  bool isLayout = false;
#define LAYOUT(ID, NAME) isLayout |= p.atWord(NAME);
#include "frontend/base/layouts.def"
  return isLayout && p.continues();
}

NodeId parseType(Parser &p) {
  TokenIndex first = p.position;
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return p.make(NodeKind::Error, first, {});
  NodeId base = kNoNode;
  if (isElementType(p.kind())) {
    base = p.leaf(NodeKind::ElementType);
  } else if (p.atWord("_")) {
    base = p.leaf(NodeKind::InferredType);
  } else if (p.atWord("acc") && p.kind(1) == TokenKind::LParen) {
    p.advance();
    size_t start = p.mark();
    p.bracketed(TokenKind::RParen, [&] { return parseType(p); });
    if (p.mark() == start) {
      p.error(DiagId::ExpectedType, {p.found()});
      p.push(p.missing());
    }
    base = p.finish(NodeKind::AccType, first, start);
  } else if (p.at(TokenKind::Identifier)) {
    NodeId path = parsePath(p, "a type");
    base = p.make(NodeKind::NamedType, first, {path});
  } else if (p.at(TokenKind::LParen)) {
    size_t start = p.mark();
    p.bracketed(TokenKind::RParen, [&] { return parseType(p); });
    return p.finish(NodeKind::TupleType, first, start);
  } else if (p.at(TokenKind::At)) {
    Span at = p.tree.tokenSpan(p.position);
    p.error(DiagId::ExpectedType, {p.found()})
        .fix(FixId::PlaceBehindName, "write a place after its type, which may be `_`",
             {{{at.file, at.begin, at.begin}, "_ "}});
    parsePlace(p);
    return p.missing();
  } else {
    p.error(DiagId::ExpectedType, {p.found()});
    return p.missing();
  }
  NodeId shape = kNoNode, place = kNoNode, strides = kNoNode, distribution = kNoNode;
  // A bracket in a new line begins a list, not the shape of this type.
  if (p.at(TokenKind::LBracket) && p.continues())
    shape = parseShape(p);
  while (p.continues()) {
    if (p.at(TokenKind::At) && place == kNoNode) {
      place = parsePlace(p);
    } else if (p.atWord("strides") && strides == kNoNode) {
      p.advance();
      if (p.at(TokenKind::LBracket))
        strides = parseShape(p);
      else
        p.expect(TokenKind::LBracket);
    } else if (atDistribution(p) && distribution == kNoNode) {
      distribution = parseDistribution(p);
    } else {
      break;
    }
  }
  if (shape == kNoNode && place == kNoNode && strides == kNoNode && distribution == kNoNode)
    return base;
  return p.make(NodeKind::ArrayType, first, {base, shape, place, strides, distribution});
}

NodeId parseShape(Parser &p) {
  TokenIndex first = p.position;
  size_t start = p.mark();
  p.bracketed(TokenKind::RBracket, [&] { return parseShapeItem(p); });
  return p.finish(NodeKind::Shape, first, start);
}

/// `..`, and what is written for it elsewhere: `...`, and `..L` where leading axes have a name.
static NodeId parseRestOfShape(Parser &p) {
  acceptForeignOperator(p, TokenKind::DotDot, TokenKind::Dot, "..");
  Span dots = p.tree.tokenSpan(p.position);
  bool isNamed = p.kind(1) == TokenKind::Identifier && p.touchesNext();
  NodeId rest = p.leaf(NodeKind::RestIndex);
  if (!isNamed)
    return rest;
  Span all = join(dots, p.tree.tokenSpan(p.position));
  std::string shown(p.tree.fileText().substr(all.begin, all.end - all.begin));
  p.errorAt(all, DiagId::ForeignOperator, {shown})
      .fix(FixId::ForeignOperator, "write `..`: leading axes have no name", {{all, ".."}});
  p.advance();
  return rest;
}

static NodeId parseShapeItem(Parser &p) {
  return p.at(TokenKind::DotDot) ? parseRestOfShape(p) : parseExpr(p);
}

NodeId parsePlace(Parser &p) {
  TokenIndex first = p.position;
  p.expect(TokenKind::At);
  NodeId name = parseName(p, "a place");
  NodeId layout = atLayout(p) ? p.leaf(NodeKind::Name) : kNoNode;
  return p.make(NodeKind::Place, first, {name, layout});
}

/// `at chip 0` is where an array lies; `at host` after the results is who orchestrates.
static bool atDistribution(const Parser &p) {
  return p.atWord("over") || (p.atWord("partial") && p.kind(1) == TokenKind::LParen) ||
         (p.atWord("at") && p.kind(1) == TokenKind::Identifier &&
          p.kind(2) == TokenKind::IntLiteral);
}

static NodeId parseDistribution(Parser &p) {
  TokenIndex first = p.position;
  size_t start = p.mark();
  while (p.continues() && atDistribution(p)) {
    if (p.atWord("partial")) {
      p.push(parsePartialItem(p));
    } else if (p.atWord("at")) {
      p.push(parsePartItem(p));
    } else {
      p.push(parseCutItem(p));
      // `, chip by F` goes on; `, w: f32[F]` is the next parameter.
      while (p.at(TokenKind::Comma) && p.kind(1) == TokenKind::Identifier &&
             (p.atWord("by", 2) || p.kind(2) == TokenKind::Comma))
        p.push(parseCutItem(p));
    }
  }
  return p.finish(NodeKind::Distribution, first, start);
}

/// Behind `over`, or the comma behind another item.
static NodeId parseCutItem(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  TokenIndex listFirst = p.position;
  size_t start = p.mark();
  do
    p.push(parseName(p, "a level of the machine"));
  while (p.accept(TokenKind::Comma));
  NodeId levels = p.finish(NodeKind::NameList, listFirst, start);
  NodeId axis = p.expectWord("by") ? parseBinary(p, Precedence::Or) : p.missing();
  return p.make(NodeKind::CutItem, first, {levels, axis});
}

static NodeId parsePartialItem(Parser &p) {
  TokenIndex first = p.position, fold = p.position + 2;
  p.advance();
  p.advance();
  if (p.at(TokenKind::Plus) || p.atWord("max") || p.atWord("min"))
    p.advance();
  else
    p.errorExpected("`+`, `max` or `min`");
  p.expect(TokenKind::RParen);
  p.expectWord("over");
  TokenIndex listFirst = p.position;
  size_t start = p.mark();
  p.push(parseName(p, "a level of the machine"));
  // A comma before `name:` begins the next parameter, not a further level.
  while (p.at(TokenKind::Comma) && p.kind(1) == TokenKind::Identifier &&
         p.kind(2) != TokenKind::Colon) {
    p.advance();
    p.push(parseName(p, "a level of the machine"));
  }
  NodeId levels = p.finish(NodeKind::NameList, listFirst, start);
  return p.make(NodeKind::PartialItem, first, fold, {levels});
}

static NodeId parsePartItem(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId level = parseName(p, "a level of the machine");
  return p.make(NodeKind::PartItem, first, {level, p.leaf(NodeKind::IntLiteral)});
}

} // namespace ptl
