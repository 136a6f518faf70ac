#include "frontend/sema/operand_text.h"

#include "frontend/base/word_char.h"
#include "frontend/sema/type_string.h"

#include <algorithm>

namespace ptl {

/// How tightly the outermost operator of an expression binds.
static Precedence precedenceOf(const Tree &tree, NodeId node) {
  switch (tree.kind(node)) {
  case NodeKind::BinaryExpr:
    return precedenceOf(tree.mainKind(node));
  case NodeKind::UnaryExpr:
    return tree.mainKind(node) == TokenKind::Not ? Precedence::Not : Precedence::Unary;
  case NodeKind::RangeExpr:
  case NodeKind::If:
    return Precedence::None;
  default:
    // Names, literals, calls, and everything in brackets of its own.
    return Precedence::Postfix;
  }
}

/// Whether the text at a span binds at least so tightly. Text that is no expression of the source
/// does not.
static bool binds(Context &ctx, Span span, Precedence least) {
  const Tree &tree = ctx.tree;
  // Several nodes may have the same text, of which the outermost is the one that is seen.
  std::optional<NodeId> found;
  for (NodeId node = tree.nodeAt(span.begin); node != kNoNode; node = tree.parent(node)) {
    Span own = tree.span(node);
    if (own.begin < span.begin || own.end > span.end)
      break;
    if (own.begin == span.begin && own.end == span.end && !tree.is(node, NodeKind::Arg))
      found = node;
  }
  return found && precedenceOf(tree, *found) >= least;
}

std::vector<TextEdit> OperandText::edits() const {
  std::vector<TextEdit> edits;
  if (!before.empty())
    edits.push_back({{span.file, span.begin, span.begin}, before});
  if (!behind.empty())
    edits.push_back({{span.file, span.end, span.end}, behind});
  return edits;
}

OperandText operandBefore(Context &ctx, Span span, std::string behind, Precedence least) {
  bool isPlain = binds(ctx, span, least);
  return {span, isPlain ? "" : "(", isPlain ? std::move(behind) : ")" + behind};
}

OperandText operandBehind(Context &ctx, std::string before, Span span, Precedence least) {
  bool isPlain = binds(ctx, span, least);
  return {span, isPlain ? std::move(before) : before + "(", isPlain ? "" : ")"};
}

std::string operandText(Context &ctx, NodeId node, Precedence least) {
  std::string text(ctx.text(node));
  return precedenceOf(ctx.tree, node) >= least ? text : "(" + text + ")";
}

/// Whether what stands in the place of an expression is an operand there, so that a text which has
/// an operator needs brackets.
static bool isOperand(Context &ctx, NodeId node) {
  NodeId parent = ctx.tree.parent(node);
  switch (parent == kNoNode ? NodeKind::Error : ctx.tree.kind(parent)) {
  case NodeKind::BinaryExpr:
  case NodeKind::UnaryExpr:
  case NodeKind::MemberExpr:
    return true;
  case NodeKind::CallExpr:
  case NodeKind::IndexExpr:
    return ctx.tree.child(parent, 0) == node;
  default:
    return false;
  }
}

void offerExtent(Context &ctx, DiagnosticBuilder report, NodeId node, const Extent &extent) {
  std::string text = toString(ctx.dims, extent);
  bool isName = std::all_of(text.begin(), text.end(), isWordChar);
  // A range is an extent, but not a number.
  if (extent.range)
    text += ".len";
  report.fix(FixId::ExtentOfShape, "write `" + text + "`",
             {{ctx.span(node), !isName && isOperand(ctx, node) ? "(" + text + ")" : text}});
}

} // namespace ptl
