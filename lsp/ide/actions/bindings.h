// Syntactic queries for refactorings: the locals of one declaration (names.h) by kind, and
// expressions and statements by their place. They also work on code with errors.
#pragma once

#include "lsp/ide/document.h"
#include "lsp/ide/names.h"

#include "frontend/syntax/typed_nodes.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptl::ide {

enum class BindingKind : uint8_t {
  Dimension,
  TypeParam,
  Param,
  Output,
  Tunable,
  Let,
  Var,
  Const,
  Loop,
  Other ///< of the block level
};

/// A name that a declaration binds.
struct Binding {
  BindingKind kind = BindingKind::Other;
  std::string_view text;
  NodeId name = kNoNode;
  Span span;     ///< of the name
  Range visible; ///< bytes of the chunk at which it is visible
};

/// The bindings of one declaration, in the order written.
class Bindings {
public:
  Bindings(const Tree &tree, NodeId declaration);

  NodeId declaration() const { return declaration_; }
  /// The binding that a use of a name refers to; null if it is not local. `node` is a `NameExpr` or
  /// a `NamedType`.
  const Binding *resolve(NodeId node) const;
  const std::vector<Binding> &all() const { return all_; }
  /// Whether a word occurs; names of callees count only with `withCallees`.
  bool mentions(std::string_view word, bool withCallees = true) const;
  /// `name`, or `name2`, `name3` …: the first that the declaration does not use for a value or
  /// type. Names of functions do not matter, because they are a separate name space.
  std::string fresh(std::string name) const;

private:
  const Tree &tree_;
  NodeId declaration_;
  std::vector<Binding> all_;
  std::unordered_map<NodeId, size_t> ofUse_; ///< index of the binding by the node of a use
};

bool isExpression(NodeKind kind);
bool isStatement(NodeKind kind);
bool isLiteral(NodeKind kind);
/// Whether an expression is made of nothing but literals and constants: such a number is exact and
/// has no type of its own, so a name or a place with a type changes what is computed with it.
/// `bindings` are those around the expression.
bool isConstant(const Tree &tree, NodeId node, const Bindings &bindings);

/// Calls `visit(node)` for a node and all its descendants, in pre-order.
template <typename Visit> void forEachNode(const Tree &tree, NodeId node, const Visit &visit) {
  if (node == kNoNode)
    return;
  visit(node);
  for (NodeId child : tree.children(node))
    forEachNode(tree, child, visit);
}

/// The innermost ancestor of `node`, itself included, for which `test` holds.
template <typename Test> NodeId enclosing(const Tree &tree, NodeId node, const Test &test) {
  while (node != kNoNode && !test(node))
    node = tree.parent(node);
  return node;
}

/// Uses of value and type names at or below a node, in the order written.
std::vector<NodeId> usesIn(const Tree &tree, NodeId node);
/// The statement around a node that is a direct child of a block.
NodeId statementAround(const Tree &tree, NodeId node);
/// The node for an expression whose text is exactly `range`; the outermost one.
NodeId expressionAt(const Tree &tree, Range range);
/// The range without white space at its ends.
Range trimmed(std::string_view text, Range range);
Range rangeOf(Span span);
/// The white space at the beginning of the line that contains an offset.
std::string_view indentAt(std::string_view text, uint32_t offset);
/// The beginning of the line that contains an offset.
uint32_t lineStart(std::string_view text, uint32_t offset);
/// The offset at which a declaration begins, including its documentation.
uint32_t startWithDocs(const Tree &tree, NodeId declaration);
/// Whether an expression of this kind never needs parentheses as an operand.
bool isAtomic(NodeKind kind);
/// Whether an expression that replaces `node` never needs parentheses.
bool isDelimited(const Tree &tree, NodeId node);

} // namespace ptl::ide
