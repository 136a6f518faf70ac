// Schedules and their items.
#include "frontend/parse/parser.h"

namespace ptl {

NodeId Parser::parseSchedule() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  push(parsePath("what to schedule"));
  push(accept(TokenKind::On) ? parseName("a target") : kNoNode);
  push(acceptWord("when") ? parseCondition() : kNoNode);
  TokenIndex open = at_;
  if (expect(TokenKind::LBrace))
    parseScheduleItems(open);
  return finish(NodeKind::ScheduleDecl, first, start);
}

void Parser::parseScheduleItems(TokenIndex open) {
  Brackets inside(*this, true);
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return;
  while (true) {
    if (accept(TokenKind::Semicolon) || accept(TokenKind::Comma))
      continue;
    if (accept(TokenKind::RBrace))
      return;
    if (at(TokenKind::EndOfFile) || atDeclaration())
      return expectCloser(TokenKind::RBrace, open);
    TokenIndex first = itemStart_ = at_;
    NodeId item = parseScheduleItem();
    if (at_ == first || !(atStatementEnd() || at(TokenKind::Comma))) {
      if (at_ != first)
        error(DiagId::ExpectedStatementEnd, {found()});
      if (at_ == first)
        skipBalanced();
      item = skipIntoError(item, first);
    }
    push(item);
  }
}

NodeId Parser::parseScheduleItem() {
  TokenIndex first = at_;
  auto unknown = [&] {
    error(DiagId::ExpectedScheduleItem, {found()});
    return missing();
  };
  if (!at(TokenKind::Identifier))
    return unknown();
  if (kind(1) == TokenKind::Equal) {
    NodeId name = leaf(NodeKind::Name);
    advance();
    NodeId value = parseExpr();
    return make(NodeKind::ScheduleAssign, first, {name, value});
  }
  if (kind(1) == TokenKind::LBrace)
    return parseScheduleBlock();
  if (atWord("tile"))
    return parseTileItem();
  if (atWord("fuse"))
    return parseLabelList(NodeKind::FuseItem);
  if (atWord("order"))
    return parseLabelList(NodeKind::OrderItem);
  if (atWord("l0"))
    return parseL0Item();
  if (acceptWord("place")) {
    NodeId place = parsePlace();
    return make(NodeKind::PlaceItem, first, {place});
  }
  if (acceptWord("split")) {
    NodeId label = expectWord("after") ? parseName("a label") : missing();
    return make(NodeKind::SplitItem, first, {label});
  }
  if (acceptWord("cores")) {
    NodeId count = parseBinary(Precedence::Or);
    return make(NodeKind::CoresItem, first, {count});
  }
  if (acceptWord("pipeline")) {
    NodeId label = parseName("a label");
    NodeId depth = parseBinary(Precedence::Or);
    return make(NodeKind::PipelineItem, first, {label, depth});
  }
  if (acceptWord("unroll")) {
    NodeId label = parseName("a label");
    bool counted = !atStatementEnd() && !at(TokenKind::Comma);
    NodeId count = counted ? parseBinary(Precedence::Or) : kNoNode;
    return make(NodeKind::UnrollItem, first, {label, count});
  }
  return unknown();
}

NodeId Parser::parseScheduleBlock() {
  TokenIndex first = at_;
  size_t start = mark();
  push(leaf(NodeKind::Name));
  TokenIndex open = at_;
  advance();
  parseScheduleItems(open);
  return finish(NodeKind::ScheduleBlock, first, start);
}

NodeId Parser::parseTileItem() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  while (true) {
    TokenIndex axisFirst = at_;
    NodeId axis = parseName("an axis");
    NodeId size = expectWord("by") ? parseBinary(Precedence::Or) : missing();
    push(make(NodeKind::TileBy, axisFirst, {axis, size}));
    bool another = at(TokenKind::Comma) && kind(1) == TokenKind::Identifier && atWord("by", 2);
    if (!another)
      return finish(NodeKind::TileItem, first, start);
    advance();
  }
}

/// A comma in a list of labels also separates items: the next word is a label if an item cannot
/// start with it.
bool Parser::labelFollowsComma() const {
  if (!at(TokenKind::Comma) || kind(1) != TokenKind::Identifier)
    return false;
  TokenKind after = kind(2);
  return after == TokenKind::Comma || after == TokenKind::Semicolon || after == TokenKind::RBrace ||
         after == TokenKind::EndOfFile || newlineAt(2);
}

NodeId Parser::parseLabelList(NodeKind node) {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  push(parseName("a label"));
  while (labelFollowsComma()) {
    advance();
    push(parseName("a label"));
  }
  return finish(node, first, start);
}

NodeId Parser::parseL0Item() {
  TokenIndex first = at_;
  advance();
  size_t start = mark();
  push(parseBinary(Precedence::Or));
  while (at(TokenKind::Comma) && (kind(1) == TokenKind::IntLiteral || labelFollowsComma())) {
    advance();
    push(parseBinary(Precedence::Or));
  }
  return finish(NodeKind::L0Item, first, start);
}

} // namespace ptl
