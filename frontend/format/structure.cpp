// Which tokens form a line: files, declarations, blocks, items and what stands between them.
#include "frontend/format/structure.h"

#include "frontend/format/align.h"

#include <algorithm>

namespace ptl {
namespace {

/// The first child of a kind that is an item between braces; -1 for kinds without braces.
int firstItemSlot(NodeKind kind) {
  switch (kind) {
  case NodeKind::Block:
    return 0;
  case NodeKind::ScheduleBlock:
    return 1;
  case NodeKind::StructDecl:
    return 2;
  case NodeKind::ScheduleDecl:
    return 3;
  default:
    return -1;
  }
}

bool isCallable(NodeKind kind) {
  return kind == NodeKind::FnDecl || kind == NodeKind::KernelDecl || kind == NodeKind::ProgramDecl;
}

} // namespace

void Structure::file() {
  Container file;
  file.node = tree_.root();
  file.items = tree_.children(tree_.root());
  items(file, 0);
}

Structure::Container Structure::containerOf(NodeId id) const {
  const Node &n = tree_.node(id);
  Container result;
  result.node = id;
  auto slot = static_cast<size_t>(firstItemSlot(n.kind));
  auto children = tree_.children(id);
  result.items = children.subspan(std::min(slot, children.size()));
  result.close = n.endToken - 1;
  result.open = n.firstToken;
  for (size_t i = 0; i < slot && i < children.size(); ++i)
    if (children[i] != kNoNode)
      result.open = tree_.node(children[i]).endToken;
  return result;
}

void Structure::collectBodies(NodeId id, std::vector<Container> &out) const {
  for (NodeId child : tree_.children(id)) {
    if (child == kNoNode)
      continue;
    if (firstItemSlot(tree_.kind(child)) >= 0)
      out.push_back(containerOf(child));
    else
      collectBodies(child, out);
  }
}

std::vector<Structure::Container> Structure::bodiesOf(NodeId id) const {
  std::vector<Container> bodies;
  if (firstItemSlot(tree_.kind(id)) >= 0)
    bodies.push_back(containerOf(id));
  else
    collectBodies(id, bodies);
  // Modifiers of loops may stand in another order than their slots.
  std::sort(bodies.begin(), bodies.end(),
            [](const Container &a, const Container &b) { return a.open < b.open; });
  return bodies;
}

bool Structure::errorWithin(TokenIndex first, TokenIndex end) const {
  const auto &errors = tree_.errorTokens();
  auto it = std::lower_bound(errors.begin(), errors.end(), first);
  return it != errors.end() && *it < end;
}

bool Structure::isBroken(NodeId id) const {
  const Node &n = tree_.node(id);
  if (n.kind == NodeKind::Error)
    return true;
  if (tree_.errorTokens().empty())
    return false;
  TokenIndex at = n.firstToken;
  for (const Container &body : bodiesOf(id)) {
    bool closed = body.open < body.close && tree_.tokenKind(body.open) == TokenKind::LBrace &&
                  tree_.tokenKind(body.close) == TokenKind::RBrace;
    // The last brace may belong to the last item.
    closed = closed && (body.items.empty() || tree_.node(body.items.back()).endToken <= body.close);
    if (!closed || errorWithin(at, body.open + 1))
      return true;
    at = body.open + 1;
    // Errors inside items are theirs.
    for (NodeId item : body.items) {
      if (errorWithin(at, tree_.node(item).firstToken))
        return true;
      at = tree_.node(item).endToken;
    }
  }
  return errorWithin(at, n.endToken);
}

bool Structure::isInline(NodeId id, const std::vector<Container> &bodies, unsigned indent) const {
  const Node &n = tree_.node(id);
  if (spacing_.mustStayVerbatim(n.firstToken, n.endToken) ||
      !spacing_.fits(n.firstToken, n.endToken, indent))
    return false;
  if (isCallable(n.kind))
    for (uint32_t clause : {5, 6, 7})
      if (tree_.child(id, clause) != kNoNode)
        return false;
  for (const Container &body : bodies) {
    if (body.close == body.open + 1)
      continue;
    for (TokenIndex i = body.open + 1; i <= body.close; ++i)
      if (tree_.token(i).newlineBefore)
        return false;
  }
  return !errorWithin(n.firstToken, n.endToken);
}

void Structure::header(NodeId id, TokenIndex end, bool hasBody, unsigned indent) {
  // Clauses have lines of their own, and so has the brace behind them.
  std::vector<TokenIndex> starts = {tree_.node(id).firstToken};
  for (uint32_t clause : {5, 6, 7})
    if (NodeId child = tree_.child(id, clause); child != kNoNode)
      starts.push_back(tree_.node(child).firstToken);
  TokenIndex open = end - 1;
  bool ownBrace = hasBody && (starts.size() > 1 || tree_.token(open).newlineBefore);
  TokenIndex arrow = tree_.child(id, 3) == kNoNode ? 0 : tree_.node(tree_.child(id, 3)).firstToken;
  TokenIndex mainEnd = starts.size() > 1 ? starts[1] : ownBrace ? open : end;
  bool breakArrow = arrow > 0 && !spacing_.fits(starts[0], mainEnd, indent) &&
                    spacing_.fits(starts[0], arrow, indent) &&
                    !spacing_.mustStayVerbatim(starts[0], mainEnd);
  if (breakArrow) {
    ownBrace = hasBody;
    starts.insert(starts.begin() + 1, arrow);
  }
  if (ownBrace)
    starts.push_back(open);
  starts.push_back(end);
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    if (i > 0)
      layout_.comments(starts[i], starts[i], indent);
    layout_.line(starts[i], starts[i + 1], indent + (breakArrow && i == 1 ? kFormatIndent : 0));
  }
}

void Structure::headerAndBodies(NodeId id, const std::vector<Container> &bodies, unsigned indent) {
  TokenIndex at = tree_.node(id).firstToken;
  for (const Container &body : bodies) {
    if (at == tree_.node(id).firstToken && isCallable(tree_.kind(id)))
      header(id, body.open + 1, true, indent);
    else
      layout_.line(at, body.open + 1, indent);
    items(body, indent + kFormatIndent);
    at = body.close;
  }
  layout_.line(at, tree_.node(id).endToken, indent);
}

void Structure::item(NodeId id, unsigned indent) {
  const Node &n = tree_.node(id);
  if (isBroken(id))
    return layout_.verbatim(n.firstToken, n.endToken, indent, "has a syntax error");
  std::vector<Container> bodies = bodiesOf(id);
  bool oneLine = bodies.empty() || isInline(id, bodies, indent);
  if (bodies.empty() && isCallable(n.kind))
    return header(id, n.endToken, false, indent);
  if (!oneLine)
    return headerAndBodies(id, bodies, indent);
  size_t index = layout_.lines.size();
  layout_.line(n.firstToken, n.endToken, indent);
  if (layout_.lines.size() == index + 1 && !spacing_.mustStayVerbatim(n.firstToken, n.endToken))
    setAnchor(tree_, spacing_, id, layout_.lines[index]);
}

size_t Structure::joinedItems(const Container &container, size_t first, unsigned indent) const {
  size_t last = first;
  TokenIndex begin = tree_.node(container.items[first]).firstToken;
  auto simple = [&](NodeId id) {
    if (isBroken(id))
      return false;
    std::vector<Container> bodies = bodiesOf(id);
    return bodies.empty() || isInline(id, bodies, indent);
  };
  // Declarations stand in lines of their own; only statements may share one.
  if (container.node == tree_.root() || !simple(container.items[first]))
    return first;
  while (last + 1 < container.items.size()) {
    const Node &here = tree_.node(container.items[last]);
    const Node &next = tree_.node(container.items[last + 1]);
    if (next.firstToken == here.endToken || !spacing_.fits(begin, next.endToken, indent) ||
        spacing_.mustStayVerbatim(begin, next.endToken) || !simple(container.items[last + 1]))
      return last;
    for (TokenIndex i = here.endToken; i <= next.firstToken; ++i)
      if (tree_.token(i).newlineBefore)
        return last;
    ++last;
  }
  return last;
}

void Structure::items(const Container &container, unsigned indent) {
  bool isFile = container.node == tree_.root();
  TokenIndex at = isFile ? 0 : container.open + 1;
  bool previousTall = false;
  for (size_t i = 0; i < container.items.size(); ++i) {
    const Node &n = tree_.node(container.items[i]);
    size_t start = layout_.lines.size();
    layout_.comments(at, n.firstToken, indent);
    size_t code = layout_.lines.size();
    size_t last = joinedItems(container, i, indent);
    if (last > i)
      layout_.line(n.firstToken, tree_.node(container.items[last]).endToken, indent);
    else
      item(container.items[i], indent);
    at = tree_.node(container.items[last]).endToken;
    bool tall = layout_.lines.size() > code + 1;
    // Declarations of several lines are set apart by an empty line; those of one line, such as
    // imports, may stand together.
    if (isFile && i > 0 && (tall || previousTall) && start > 0 &&
        !layout_.lines[start].text.empty()) {
      layout_.lines.insert(layout_.lines.begin() + static_cast<std::ptrdiff_t>(start),
                           OutputLine());
      ++layout_.lastCode;
    }
    previousTall = tall;
    i = last;
  }
  TokenIndex end = isFile ? static_cast<TokenIndex>(tree_.tokens().size() - 1) : container.close;
  layout_.comments(at, end, indent);
}

} // namespace ptl
