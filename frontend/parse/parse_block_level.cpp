// Statements of the block level and of orchestration: tasks, pipes, sections, buffers, events.
#include "frontend/parse/parser.h"

namespace ptl {

NodeId Parser::parseTask() {
  TokenIndex first = at_;
  advance();
  NodeId name = parseName("a name for the task");
  NodeId body = parseBlock();
  return make(NodeKind::TaskStmt, first, {name, body});
}

NodeId Parser::parsePipe() {
  TokenIndex first = at_;
  advance();
  NodeId name = parseName("a name for the pipe");
  NodeId type = expect(TokenKind::Colon) ? parseType() : missing();
  NodeId depth = kNoNode;
  if (continues() && acceptWord("depth"))
    depth = parseBinary(Precedence::Or);
  return make(NodeKind::PipeStmt, first, {name, type, depth});
}

NodeId Parser::parseOn() {
  TokenIndex first = at_;
  advance();
  NodeId core = parseName("a kind of core");
  NodeId split = acceptWord("split") ? parseName("what to split") : kNoNode;
  NodeId body = parseBlock();
  return make(NodeKind::OnStmt, first, {core, split, body});
}

NodeId Parser::parseCount() {
  if (!at(TokenKind::LBracket))
    return kNoNode;
  TokenIndex open = at_;
  advance();
  Brackets inside(*this, false);
  closers_.push_back(TokenKind::RBracket);
  NodeId count = parseExpr();
  closers_.pop_back();
  expectCloser(TokenKind::RBracket, open);
  return count;
}

NodeId Parser::parseBuffer() {
  TokenIndex first = at_;
  advance();
  NodeId name = parseName("a name for the buffer");
  NodeId count = parseCount();
  NodeId type = expect(TokenKind::Colon) ? parseType() : missing();
  NodeId address = kNoNode;
  if (continues() && acceptWord("at"))
    address = parseBinary(Precedence::Or);
  return make(NodeKind::BufferStmt, first, {name, count, type, address});
}

NodeId Parser::parseEvent() {
  TokenIndex first = at_;
  advance();
  NodeId name = parseName("a name for the event");
  NodeId count = parseCount();
  NodeId from = expect(TokenKind::Colon) ? parsePath("a pipe") : missing();
  NodeId to = expect(TokenKind::Arrow) ? parsePath("a pipe") : missing();
  NodeId number = kNoNode;
  if (continues() && acceptWord("id"))
    number = parseBinary(Precedence::Or);
  return make(NodeKind::EventStmt, first, {name, count, from, to, number});
}

} // namespace ptl
