// Typed views of syntax nodes, one per kind: `BinaryExprView(tree, id).lhs()`. Generated from the
// table. A view has no cost and no checks: the node must have the kind.
#pragma once

#include "frontend/syntax/tree.h"

namespace ptl {

/// The members that all views share.
struct NodeView {
  const Tree &tree;
  NodeId id;

  NodeView(const Tree &tree, NodeId id) : tree(tree), id(id) {}
  Span span() const { return tree.span(id); }
  std::string_view text() const { return tree.text(id); }
  bool has(NodeFlag flag) const { return tree.has(id, flag); }
  /// The children from `slot` to the last.
  std::span<const NodeId> listFrom(uint32_t slot) const {
    auto all = tree.children(id);
    return all.size() > slot ? all.subspan(slot) : std::span<const NodeId>();
  }
};

#define SLOT(I, NAME)                                                                              \
  NodeId NAME() const { return tree.child(id, I); }
#define OPT(I, NAME)                                                                               \
  NodeId NAME() const { return tree.child(id, I); }
#define LIST(I, NAME)                                                                              \
  std::span<const NodeId> NAME() const { return listFrom(I); }
#define NODE(KIND, SLOTS)                                                                          \
  struct KIND##View : NodeView {                                                                   \
    using NodeView::NodeView;                                                                      \
    SLOTS                                                                                          \
  };
#include "frontend/syntax/node_kinds.def"

/// `FnDecl`, `KernelDecl` and `ProgramDecl` have the same slots.
using CallableView = KernelDeclView;
/// `ForStmt` and `ParallelStmt` have the same slots, too.
using LoopView = ForStmtView;

} // namespace ptl
