// Source text that fixes put next to an expression, or in its place. All fixes that make an expression
// an operand of something go through here, because only an operand in the right brackets keeps its
// meaning: `.T` behind `a @ b` would be that of `b`.
#pragma once

#include "frontend/lex/operator.h"
#include "frontend/sema/context.h"

namespace ptl {

/// What is put around an expression, with its brackets.
struct OperandText {
  Span span;
  std::string before, behind;

  std::vector<TextEdit> edits() const;
  /// The whole, around the source text or an excerpt of it.
  std::string around(std::string_view text) const { return before + std::string(text) + behind; }
};

/// `behind` is put behind the expression at `span`, which has to bind at least as tightly as `least`
/// to be its operand: `Postfix` for `.T` or an index. An expression that binds less gets brackets.
OperandText operandBefore(Context &ctx, Span span, std::string behind,
                          Precedence least = Precedence::Postfix);
/// The same for text in front of an expression, such as `0..`.
OperandText operandBehind(Context &ctx, std::string before, Span span, Precedence least);
/// The source text of an expression as an operand of something that binds like `least`.
std::string operandText(Context &ctx, NodeId node, Precedence least);
/// Offers an extent of a type in the place of an expression.
void offerExtent(Context &ctx, DiagnosticBuilder report, NodeId node, const Extent &extent);

} // namespace ptl
