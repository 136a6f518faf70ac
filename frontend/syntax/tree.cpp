#include "frontend/syntax/tree.h"

#include <algorithm>

namespace ptl {

Tree::Tree(FileId file, std::string_view text, TokenList tokens)
    : file_(file), text_(text), tokens_(std::move(tokens)) {
  nodes_.reserve(tokens_.tokens.size());
  heights_.reserve(tokens_.tokens.size());
  children_.reserve(tokens_.tokens.size());
}

std::string_view Tree::tokenText(TokenIndex index) const {
  const Token &t = token(index);
  return text_.substr(t.begin, t.end - t.begin);
}

Span Tree::tokenSpan(TokenIndex index) const {
  const Token &t = token(index);
  return {file_, t.begin, t.end};
}

std::span<const Trivia> Tree::triviaBefore(TokenIndex index) const {
  size_t begin = token(index).firstTrivia;
  size_t end = index + 1 < tokens().size() ? token(index + 1).firstTrivia : tokens_.trivia.size();
  return std::span(tokens_.trivia).subspan(begin, end - begin);
}

Span Tree::span(NodeId id) const {
  const Node &n = node(id);
  if (n.firstToken < n.endToken)
    return {file_, token(n.firstToken).begin, token(n.endToken - 1).end};
  uint32_t at = n.firstToken > 0 ? token(n.firstToken - 1).end : 0;
  return {file_, at, at};
}

std::string_view Tree::text(NodeId id) const {
  Span s = span(id);
  return text_.substr(s.begin, s.end - s.begin);
}

std::string Tree::docComment(NodeId id) const {
  std::string result;
  bool any = false;
  unsigned lineEnds = 0;
  for (const Trivia &t : triviaBefore(node(id).firstToken)) {
    lineEnds = t.kind == TriviaKind::Newline      ? lineEnds + 1
               : t.kind == TriviaKind::Whitespace ? lineEnds
                                                  : 0;
    // A comment that an empty line parts from the declaration is not about it.
    if (lineEnds > 1) {
      result.clear();
      any = false;
    }
    if (t.kind != TriviaKind::DocComment)
      continue;
    std::string_view line = text_.substr(t.begin + 3, t.end - t.begin - 3);
    if (line.starts_with(' '))
      line.remove_prefix(1);
    result += any ? "\n" : "";
    result += line;
    any = true;
  }
  return result;
}

TokenIndex Tree::tokenAt(uint32_t offset) const {
  auto it = std::partition_point(tokens().begin(), tokens().end(),
                                 [&](const Token &t) { return t.end <= offset; });
  if (it == tokens().end())
    --it;
  return static_cast<TokenIndex>(it - tokens().begin());
}

NodeId Tree::nodeAt(uint32_t offset) const {
  NodeId best = root();
  for (bool descended = true; descended;) {
    descended = false;
    for (NodeId child : children(best)) {
      if (child == kNoNode)
        continue;
      Span s = span(child);
      if (s.begin > offset || offset > s.end)
        continue;
      best = child;
      descended = true;
      if (offset < s.end)
        break;
    }
  }
  return best;
}

NodeId Tree::add(Node node, std::span<const NodeId> children) {
  auto id = static_cast<NodeId>(nodes_.size());
  uint16_t height = 0;
  for (NodeId child : children)
    if (child != kNoNode)
      height = std::max(height, heights_[child]);
  // Everything behind walks the tree by recursion, whose depth this bounds; the file is refused
  // with a report.
  if (height >= kMaxTreeHeight) {
    node.kind = NodeKind::Error;
    children = {};
    height = 0;
    tooHigh_.push_back(id);
  }
  node.firstChild = static_cast<uint32_t>(children_.size());
  node.childCount = static_cast<uint32_t>(children.size());
  for (NodeId child : children) {
    children_.push_back(child);
    if (child != kNoNode)
      nodes_[child].parent = id;
  }
  nodes_.push_back(node);
  heights_.push_back(static_cast<uint16_t>(height + 1));
  return id;
}

void Tree::cutAt(TokenIndex end, uint32_t size) {
  Token last;
  last.begin = last.end = size;
  last.newlineBefore = tokens_.tokens[end].newlineBefore;
  last.firstTrivia = tokens_.tokens[end].firstTrivia;
  size_t trivia = last.firstTrivia;
  while (trivia < tokens_.trivia.size() && tokens_.trivia[trivia].end <= size)
    ++trivia;
  tokens_.trivia.resize(trivia);
  tokens_.tokens.resize(end);
  tokens_.tokens.push_back(last);
}

void Tree::shrink() {
  tokens_.trivia.shrink_to_fit();
  tokens_.tokens.shrink_to_fit();
  nodes_.shrink_to_fit();
  children_.shrink_to_fit();
  heights_ = {};
}

void Tree::addErrorToken(TokenIndex token) {
  auto it = std::lower_bound(errorTokens_.begin(), errorTokens_.end(), token);
  if (it == errorTokens_.end() || *it != token)
    errorTokens_.insert(it, token);
}

} // namespace ptl
