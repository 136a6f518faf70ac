#include "frontend/format/spacing.h"

#include "frontend/format/source_text.h"

#include <algorithm>

namespace ptl {

Spacing::Spacing(const Tree &tree) : tree_(tree) {
  assignRoles();
  measure();
}

void Spacing::assignRoles() {
  roles_.assign(tree_.tokens().size() + 1, 0);
  for (NodeId id = 0; id < tree_.nodeCount(); ++id)
    if (id == tree_.root() || tree_.parent(id) != kNoNode)
      assignRole(id);
  for (TokenIndex i = 0; i < tree_.tokens().size(); ++i)
    if (tree_.tokenKind(i) == TokenKind::Dot)
      roles_[i] |= kTightAfter;
}

void Spacing::markTrailingComma(const Node &list) {
  TokenIndex close = list.endToken - 1;
  TokenKind kind = tree_.tokenKind(close);
  if ((kind != TokenKind::RParen && kind != TokenKind::RBracket) || close < list.mainToken + 3 ||
      tree_.tokenKind(close - 1) != TokenKind::Comma)
    return;
  // With a comment beside it the comma stays, since without it the comment would belong to something else.
  for (TokenIndex token : {close - 1, close})
    for (const Trivia &t : tree_.triviaBefore(token))
      if (t.kind >= TriviaKind::LineComment)
        return;
  roles_[close - 1] |= kTrailingComma;
}

void Spacing::assignRole(NodeId id) {
  const Node &n = tree_.node(id);
  if (n.kind == NodeKind::CallExpr || n.kind == NodeKind::ParamList ||
      n.kind == NodeKind::GenericParams)
    markTrailingComma(n);
  switch (n.kind) {
  case NodeKind::UnaryExpr:
    if (tree_.mainKind(id) != TokenKind::Not)
      roles_[n.mainToken] |= kTightAfter;
    break;
  case NodeKind::SliceIndex: {
    roles_[n.mainToken] |= kSliceColon;
    if (NodeId step = tree_.child(id, 2); step != kNoNode)
      roles_[tree_.node(step).firstToken - 1] |= kSliceColon;
    if (tree_.tokenKind(n.endToken - 1) == TokenKind::Colon)
      roles_[n.endToken - 1] |= kSliceColon;
    break;
  }
  case NodeKind::RangeExpr:
  case NodeKind::MemberExpr:
    roles_[n.mainToken] |= kTightBefore | kTightAfter;
    break;
  case NodeKind::Path:
    for (TokenIndex i = n.firstToken + 1; i < n.endToken; ++i)
      roles_[i] |= kTightBefore;
    break;
  case NodeKind::CallExpr:
  case NodeKind::IndexExpr:
  case NodeKind::ParamList:
  case NodeKind::GenericParams:
    roles_[n.mainToken] |= kTightBefore;
    break;
  case NodeKind::ArrayType:
    if (NodeId shape = tree_.child(id, 1); shape != kNoNode)
      roles_[tree_.node(shape).firstToken] |= kTightBefore;
    break;
  case NodeKind::AccType:
  case NodeKind::AssertStmt:
  case NodeKind::PrintStmt:
    roles_[n.firstToken + 1] |= kTightBefore;
    break;
  case NodeKind::PipeStmt:
  case NodeKind::BufferStmt:
  case NodeKind::EventStmt:
    if (tree_.child(id, 1) != kNoNode)
      roles_[tree_.node(tree_.child(id, 0)).endToken] |= kTightBefore;
    break;
  case NodeKind::AtomicStmt:
    if (tree_.mainKind(id) == TokenKind::Identifier)
      roles_[n.mainToken + 1] |= kTightBefore;
    break;
  case NodeKind::Place:
    roles_[n.firstToken] |= kTightAfter;
    break;
  case NodeKind::Distribution: // `over host by B, chip by F` is one word of a list
  case NodeKind::MeshClause:
    for (TokenIndex i = n.firstToken; i < n.endToken; ++i)
      if (tree_.tokenKind(i) == TokenKind::Comma)
        roles_[i] |= kInnerComma;
    break;
  case NodeKind::PartialItem: // `partial(+)`
    roles_[n.firstToken + 1] |= kTightBefore | kTightAfter;
    roles_[n.mainToken] |= kTightAfter;
    break;
  default:
    break;
  }
}

bool Spacing::spaceBefore(TokenIndex token) const {
  if (token == 0)
    return false;
  TokenKind left = tree_.tokenKind(token - 1);
  TokenKind right = tree_.tokenKind(token);
  if (left == TokenKind::LParen || left == TokenKind::LBracket || right == TokenKind::RParen ||
      right == TokenKind::RBracket || right == TokenKind::Comma)
    return false;
  if (roles_[token] & kSliceColon)
    return left == TokenKind::Comma;
  if (right == TokenKind::Colon || (roles_[token - 1] & kSliceColon))
    return false;
  if (left == TokenKind::LBrace && right == TokenKind::RBrace)
    return false;
  return !(roles_[token] & kTightBefore) && !(roles_[token - 1] & kTightAfter);
}

void Spacing::measure() {
  size_t count = tree_.tokens().size();
  cumulative_.assign(count + 1, 0);
  leading_.assign(count + 1, 0);
  trouble_.assign(count + 2, 0);
  malformed_.assign(count + 1, 0);
  for (TokenIndex i = 0; i < count; ++i) {
    uint32_t before = spaceBefore(i);
    // Comments that end with the line cannot stand within one; ranges that have some do not fit,
    // whatever their width is.
    bool trouble = false;
    for (const Trivia &t : tree_.triviaBefore(i)) {
      if (t.kind < TriviaKind::LineComment)
        continue;
      std::string_view text = tree_.fileText().substr(t.begin, t.end - t.begin);
      trouble |= t.kind != TriviaKind::BlockComment || text.find('\n') != std::string_view::npos;
      before = std::max(before, 1u) + columnsOf(text) + 1;
    }
    leading_[i] = before;
    // Whether a trailing comma is written depends on the break, so the flat width is without it.
    uint32_t own = roles_[i] & kTrailingComma ? 0 : columnsOf(tree_.tokenText(i));
    cumulative_[i + 1] = cumulative_[i] + before + own;
    trouble_[i + 1] = trouble_[i] + trouble;
    malformed_[i + 1] = malformed_[i] + tree_.token(i).malformed;
  }
}

std::string Spacing::flat(TokenIndex a, TokenIndex b) const {
  std::string text;
  for (TokenIndex i = a; i < b; ++i) {
    if ((roles_[i] & kTrailingComma) && i + 1 < b)
      continue;
    bool space = i > a && spaceBefore(i);
    if (i > a)
      for (const Trivia &t : tree_.triviaBefore(i))
        if (t.kind >= TriviaKind::LineComment) {
          text += ' ';
          text += textOf(tree_, t.begin, t.end);
          space = true;
        }
    if (space)
      text += ' ';
    text += tree_.tokenText(i);
  }
  return text;
}

} // namespace ptl
