#include "frontend/parse/parse_schedule.h"

#include "frontend/parse/parse_expr.h"
#include "frontend/parse/parse_name.h"
#include "frontend/parse/parse_stmt.h"
#include "frontend/parse/parse_type.h"

namespace ptl {

static void parseScheduleItems(Parser &p, TokenIndex open);
static NodeId parseScheduleItem(Parser &p);
static NodeId parseScheduleBlock(Parser &p);
static NodeId parseTileItem(Parser &p);
static NodeId parseLabelList(Parser &p, NodeKind node);
static NodeId parseL0Item(Parser &p);

NodeId parseSchedule(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  p.push(parsePath(p, "what to schedule"));
  p.push(p.accept(TokenKind::On) ? parseName(p, "a target") : kNoNode);
  p.push(p.acceptWord("when") ? parseCondition(p) : kNoNode);
  TokenIndex open = p.position;
  if (p.expect(TokenKind::LBrace))
    parseScheduleItems(p, open);
  return p.finish(NodeKind::ScheduleDecl, first, start);
}

static void parseScheduleItems(Parser &p, TokenIndex open) {
  Parser::Brackets inside(p, true);
  Parser::Nesting nesting(p);
  if (nesting.tooDeep())
    return;
  while (true) {
    if (p.accept(TokenKind::Semicolon) || p.accept(TokenKind::Comma))
      continue;
    if (p.accept(TokenKind::RBrace))
      return;
    if (p.at(TokenKind::EndOfFile) || p.atDeclaration())
      return p.expectCloser(TokenKind::RBrace, open);
    TokenIndex first = p.itemStart = p.position;
    NodeId item = parseScheduleItem(p);
    if (p.position == first || !(p.atStatementEnd() || p.at(TokenKind::Comma))) {
      if (p.position != first)
        p.error(DiagId::ExpectedStatementEnd, {p.found()});
      item = p.skipIntoError(item, first);
    }
    p.push(item);
  }
}

static NodeId parseScheduleItem(Parser &p) {
  TokenIndex first = p.position;
  auto unknown = [&] {
    p.error(DiagId::ExpectedScheduleItem, {p.found()});
    return p.missing();
  };
  if (!p.at(TokenKind::Identifier))
    return unknown();
  // What follows a name decides first, so that tunables and labels may be called `tile` or `order`.
  if (p.kind(1) == TokenKind::Equal) {
    NodeId name = p.leaf(NodeKind::Name);
    p.advance();
    NodeId value = parseExpr(p);
    return p.make(NodeKind::ScheduleAssign, first, {name, value});
  }
  if (p.kind(1) == TokenKind::LBrace)
    return parseScheduleBlock(p);
  if (p.atWord("tile"))
    return parseTileItem(p);
  if (p.atWord("fuse"))
    return parseLabelList(p, NodeKind::FuseItem);
  if (p.atWord("order"))
    return parseLabelList(p, NodeKind::OrderItem);
  if (p.atWord("l0"))
    return parseL0Item(p);
  if (p.acceptWord("place")) {
    NodeId place = parsePlace(p);
    return p.make(NodeKind::PlaceItem, first, {place});
  }
  if (p.acceptWord("split")) {
    NodeId label = p.expectWord("after") ? parseName(p, "a label") : p.missing();
    return p.make(NodeKind::SplitItem, first, {label});
  }
  if (p.acceptWord("chunks")) {
    NodeId count = parseBinary(p, Precedence::Or);
    return p.make(NodeKind::ChunksItem, first, {count});
  }
  if (p.acceptWord("how")) {
    NodeId name = parseName(p, "an algorithm");
    return p.make(NodeKind::HowItem, first, {name});
  }
  if (p.acceptWord("cores")) {
    NodeId count = parseBinary(p, Precedence::Or);
    return p.make(NodeKind::CoresItem, first, {count});
  }
  if (p.acceptWord("pipeline")) {
    NodeId label = parseName(p, "a label");
    NodeId depth = parseBinary(p, Precedence::Or);
    return p.make(NodeKind::PipelineItem, first, {label, depth});
  }
  if (p.acceptWord("unroll")) {
    NodeId label = parseName(p, "a label");
    bool counted = !p.atStatementEnd() && !p.at(TokenKind::Comma);
    NodeId count = counted ? parseBinary(p, Precedence::Or) : kNoNode;
    return p.make(NodeKind::UnrollItem, first, {label, count});
  }
  return unknown();
}

static NodeId parseScheduleBlock(Parser &p) {
  TokenIndex first = p.position;
  size_t start = p.mark();
  p.push(p.leaf(NodeKind::Name));
  TokenIndex open = p.position;
  p.advance();
  parseScheduleItems(p, open);
  return p.finish(NodeKind::ScheduleBlock, first, start);
}

static NodeId parseTileItem(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  while (true) {
    TokenIndex axisFirst = p.position;
    NodeId axis = parseName(p, "an axis");
    NodeId size = p.expectWord("by") ? parseBinary(p, Precedence::Or) : p.missing();
    p.push(p.make(NodeKind::TileBy, axisFirst, {axis, size}));
    bool another =
        p.at(TokenKind::Comma) && p.kind(1) == TokenKind::Identifier && p.atWord("by", 2);
    if (!another)
      return p.finish(NodeKind::TileItem, first, start);
    p.advance();
  }
}

/// A comma in a list of labels also separates items: the next word is a label if an item cannot
/// start with it.
static bool labelFollowsComma(const Parser &p) {
  if (!p.at(TokenKind::Comma) || p.kind(1) != TokenKind::Identifier)
    return false;
  TokenKind after = p.kind(2);
  return after == TokenKind::Comma || after == TokenKind::Semicolon || after == TokenKind::RBrace ||
         after == TokenKind::EndOfFile || p.newlineAt(2);
}

static NodeId parseLabelList(Parser &p, NodeKind node) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  p.push(parseName(p, "a label"));
  while (labelFollowsComma(p)) {
    p.advance();
    p.push(parseName(p, "a label"));
  }
  return p.finish(node, first, start);
}

static NodeId parseL0Item(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  size_t start = p.mark();
  p.push(parseBinary(p, Precedence::Or));
  while (p.at(TokenKind::Comma) && (p.kind(1) == TokenKind::IntLiteral || labelFollowsComma(p))) {
    p.advance();
    p.push(parseBinary(p, Precedence::Or));
  }
  return p.finish(NodeKind::L0Item, first, start);
}

} // namespace ptl
