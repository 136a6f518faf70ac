#include "frontend/parse/parse_block_level.h"

#include "frontend/parse/parse_expr.h"
#include "frontend/parse/parse_name.h"
#include "frontend/parse/parse_stmt.h"
#include "frontend/parse/parse_type.h"

namespace ptl {

NodeId parseTask(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId name = parseName(p, "a name for the task");
  NodeId body = parseBlock(p);
  return p.make(NodeKind::TaskStmt, first, {name, body});
}

static NodeId parseCount(Parser &p) {
  if (!p.at(TokenKind::LBracket))
    return kNoNode;
  TokenIndex open = p.position;
  p.advance();
  Parser::Brackets inside(p, false);
  p.closers.push_back(TokenKind::RBracket);
  NodeId count = parseExpr(p);
  p.closers.pop_back();
  p.expectCloser(TokenKind::RBracket, open);
  return count;
}

/// `NAME[count]: TYPE word VALUE`, of which the count, and the word with its value, may be missing.
static NodeId parseStorage(Parser &p, NodeKind kind, const char *wanted, std::string_view word) {
  TokenIndex first = p.position;
  p.advance();
  NodeId name = parseName(p, wanted);
  NodeId count = parseCount(p);
  NodeId type = p.expect(TokenKind::Colon) ? parseType(p) : p.missing();
  NodeId value = kNoNode;
  if (p.continues() && p.acceptWord(word))
    value = parseBinary(p, Precedence::Or);
  return p.make(kind, first, {name, count, type, value});
}

NodeId parsePipe(Parser &p) {
  return parseStorage(p, NodeKind::PipeStmt, "a name for the pipe", "depth");
}

/// Reads `1..S` where a section names its parts, and says what it lacks.
static NodeId parseNamelessParts(Parser &p) {
  NodeId parts = parseExpr(p);
  Span span = p.tree.span(parts);
  std::string text(p.tree.text(parts));
  bool isRange = p.tree.is(parts, NodeKind::RangeExpr);
  auto report = p.errorAt(
      span, DiagId::SectionNotHere,
      {isRange ? "a section for several parts needs a name for the number of its part, by which "
                 "it chooses its pipes and its elements"
               : "`" + text + "` is not the number of a part"});
  if (isRange)
    report.fix(FixId::SectionNumber, "name the number: `s in " + text + "`",
               {{{span.file, span.begin, span.begin}, "s in "}});
  return parts;
}

/// `0`, `s in 0..S`; no node if the section is for a kind of core.
static NodeId parsePart(Parser &p) {
  if (p.at(TokenKind::IntLiteral))
    return p.kind(1) == TokenKind::LBrace ? p.leaf(NodeKind::IntLiteral) : parseNamelessParts(p);
  bool isBinding = p.at(TokenKind::Identifier) && p.atWord("in", 1);
  return isBinding ? parseLoopBinding(p) : kNoNode;
}

NodeId parseOn(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId core = parseName(p, "a kind of core or a level of the machine");
  NodeId split = p.acceptWord("split") ? parseName(p, "what to split") : kNoNode;
  NodeId part = split == kNoNode ? parsePart(p) : kNoNode;
  NodeId body = parseBlock(p);
  return p.make(NodeKind::OnStmt, first, {core, split, part, body});
}

NodeId parseBuffer(Parser &p) {
  return parseStorage(p, NodeKind::BufferStmt, "a name for the buffer", "at");
}

NodeId parseEvent(Parser &p) {
  TokenIndex first = p.position;
  p.advance();
  NodeId name = parseName(p, "a name for the event");
  NodeId count = parseCount(p);
  NodeId from = p.expect(TokenKind::Colon) ? parsePath(p, "a pipe") : p.missing();
  NodeId to = p.expect(TokenKind::Arrow) ? parsePath(p, "a pipe") : p.missing();
  NodeId number = kNoNode;
  if (p.continues() && p.acceptWord("id"))
    number = parseBinary(p, Precedence::Or);
  return p.make(NodeKind::EventStmt, first, {name, count, from, to, number});
}

} // namespace ptl
