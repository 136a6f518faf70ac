// An expression gets a name: `let value = …` before its statement.
#include "lsp/ide/actions/guards.h"

namespace ptl::ide {

/// A statement of its own, or the name of a function.
static bool isNoPart(const ActionContext &context, NodeId node) {
  NodeId parent = context.tree.parent(node);
  bool isCallee =
      context.tree.is(parent, NodeKind::CallExpr) && context.tree.child(parent, 0) == node;
  return context.tree.is(parent, NodeKind::ExprStmt) || isCallee;
}

std::vector<Offer> extractLetOffers(const ActionContext &context) {
  if (context.range.begin == context.range.end)
    return {};
  NodeId node = expressionAt(context.tree, context.range);
  if (node == kNoNode || isNoPart(context, node) || statementAround(context.tree, node) == kNoNode)
    return {};
  return {{"Extract `let`"}};
}

/// A name for a value: that of the function that makes it, or of the value that it is taken from.
static std::string nameFor(const ActionContext &context, NodeId node) {
  const Tree &tree = context.tree;
  while (tree.is(node, NodeKind::ParenExpr))
    node = tree.child(node, 0);
  if (tree.is(node, NodeKind::CallExpr))
    node = tree.child(node, 0);
  if (tree.is(node, NodeKind::MemberExpr))
    node = tree.child(node, 1);
  bool isWord = tree.is(node, NodeKind::NameExpr) || tree.is(node, NodeKind::Name);
  std::string name = isWord ? std::string(tree.mainText(node)) : "value";
  return name.size() > 1 ? name : "value";
}

Outcome extractLetEdits(const ActionContext &context, int) {
  const Tree &tree = context.tree;
  NodeId node = expressionAt(tree, context.range);
  NodeId statement = statementAround(tree, node);
  if (statement == kNoNode)
    return refuse("there is no statement around it");
  // A guard may be what keeps the expression within the bounds of an array.
  if (std::string why = whyNotBefore(context, node); !why.empty())
    return refuse(why);
  Bindings bindings(tree, enclosingDecl(tree, node));
  uint32_t at = tree.span(statement).begin;
  for (NodeId use : usesIn(tree, node))
    if (const Binding *binding = bindings.resolve(use); binding && binding->visible.begin > at)
      return refuse("`" + std::string(binding->text) + "` has no value before this statement");
  std::string name = bindings.fresh(nameFor(context, node));
  std::string indent(indentAt(context.text(), at));
  // A `let` gives a number a type, by which `7 / 2` would become 3; a constant stays exact.
  std::string keyword = isConstant(tree, node, bindings) ? "const " : "let ";
  return {{{{at, at}, keyword + name + " = " + context.text(node) + "\n" + indent},
           {rangeOf(tree.span(node)), name}},
          ""};
}

} // namespace ptl::ide
