// The inferred type of a `let` or `var` is written into the source.
#include "lsp/ide/actions/refactoring.h"

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/type_string.h"

namespace ptl::ide {

/// The `let` or `var` without a type around a node.
static NodeId untyped(const ActionContext &context) {
  const Tree &tree = context.tree;
  NodeId node = enclosing(tree, tree.nodeAt(context.range.begin), [&](NodeId n) {
    return tree.is(n, NodeKind::LetStmt) || tree.is(n, NodeKind::VarStmt) ||
           tree.is(n, NodeKind::Block);
  });
  bool isOpen = node != kNoNode && !tree.is(node, NodeKind::Block) &&
                tree.child(node, 1) == kNoNode && tree.is(tree.child(node, 0), NodeKind::Name);
  return isOpen ? node : kNoNode;
}

static std::string typeOf(const ActionContext &context, NodeId let) {
  Local *local = context.localOf(context.tree.child(let, 0));
  bool isWritable = local && local->type &&
                    (local->type->isScalar() || local->type->isArray() ||
                     local->type->kind == TypeKind::Struct || local->type->kind == TypeKind::Tuple);
  return isWritable ? toString(context.dims(), *local->type) : "";
}

std::vector<Offer> writeTypeOffers(const ActionContext &context) {
  NodeId let = untyped(context);
  std::string type = let == kNoNode ? "" : typeOf(context, let);
  if (type.empty())
    return {};
  return {{"Write the type: `" + type + "`"}};
}

Outcome writeTypeEdits(const ActionContext &context, int) {
  NodeId let = untyped(context);
  std::string type = let == kNoNode ? "" : typeOf(context, let);
  if (type.empty())
    return refuse("its type is not known or cannot be written");
  uint32_t end = context.tree.span(context.tree.child(let, 0)).end;
  return {{{{end, end}, ": " + type}}, ""};
}

} // namespace ptl::ide
