#include "lsp/ide/actions/guards.h"

namespace ptl::ide {

/// What decides whether a child of a node is computed at all; empty if nothing does.
static std::string guardOf(const ActionContext &context, NodeId parent, NodeId child) {
  const Tree &tree = context.tree;
  switch (tree.kind(parent)) {
  case NodeKind::BinaryExpr: {
    TokenKind op = tree.mainKind(parent);
    if ((op != TokenKind::And && op != TokenKind::Or) || tree.child(parent, 1) != child)
      return "";
    // Of arrays both sides are computed.
    if (const Expr *expr = context.exprOf(parent); expr && expr->type && expr->type->isArray())
      return "";
    return op == TokenKind::And ? "this is computed only where the left side of `and` is true"
                                : "this is computed only where the left side of `or` is false";
  }
  case NodeKind::If:
    return tree.child(parent, 0) == child ? "" : "this is computed only in one case of the `if`";
  case NodeKind::WhileStmt:
    return tree.child(parent, 0) == child
               ? "the condition of a `while` is computed again in each iteration"
               : "the loop around it may have no iteration";
  case NodeKind::ForStmt:
    return tree.is(child, NodeKind::Block) ? "the loop around it may have no iteration" : "";
  case NodeKind::AssertStmt:
    return tree.child(parent, 0) == child ? "" : "this is computed only where the `assert` fails";
  default:
    return "";
  }
}

std::string whyNotAlways(const ActionContext &context, NodeId node, NodeId ancestor) {
  for (NodeId child = node; child != ancestor; child = context.tree.parent(child))
    if (std::string guard = guardOf(context, context.tree.parent(child), child); !guard.empty())
      return guard;
  return "";
}

std::string whyNotBefore(const ActionContext &context, NodeId node) {
  const Tree &tree = context.tree;
  NodeId statement = statementAround(tree, node);
  if (std::string guard = whyNotAlways(context, node, statement); !guard.empty())
    return guard;
  bool isChanged = false;
  forEachNode(tree, statement, [&](NodeId n) {
    isChanged |= tree.is(n, NodeKind::Arg) && tree.has(n, NodeFlag::Inout) &&
                 tree.span(n).end <= tree.span(node).begin;
  });
  return isChanged ? "a call before it in this statement changes a variable" : "";
}

} // namespace ptl::ide
