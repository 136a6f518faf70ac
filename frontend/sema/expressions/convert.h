// Operands and their types: constants get a type, `int` is converted to other integer types, and
// values are converted to the type that a place expects.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// A checked operand: an expression, or a constant that has no type yet.
struct Operand {
  NodeId node = kNoNode;
  Span span;
  Expr *expr = nullptr; ///< null while the operand is an untyped `constant`
  std::optional<ConstValue> constant;

  bool isUntyped() const { return !expr; }
  bool isError() const { return expr && expr->type->isError(); }
  bool isIntScalar() const { return expr && expr->type->isInt(); }
};

/// The operand with an element type: constants get it, `int` scalars are converted to integers.
/// Otherwise the types must already be equal.
Expr *operandAs(Context &ctx, const Operand &operand, Elem elem);
/// The operand without a context: a constant becomes `int` or `f32`.
Expr *settle(Context &ctx, const Operand &operand);
/// Creates the `ConstExpr` of a constant for a type; reports a value that does not fit.
Expr *makeConst(Context &ctx, const ConstValue &value, const Type *type, NodeId node,
                RoundMode mode = RoundMode::Even);
/// The constant `true`.
Expr *trueExpr(Context &ctx, NodeId node);
/// The type of an untyped constant without a context.
Elem defaultElem(const ConstValue &constant);
/// Converts an `int` scalar to an integer type.
Expr *convertInt(Context &ctx, Expr *value, Elem elem);
/// Converts a value to the type `target`: literals, `int` to integers; shapes must be equal.
/// Reports a mismatch with `what` ("the initial value", "the default of `eps`").
Expr *convertTo(Context &ctx, Expr *value, const Type *target, std::string_view what);

/// Offers the fix that converts the source text at `span` to another element type.
void offerConversion(Context &ctx, DiagnosticBuilder report, Span span, Elem from, Elem to);
/// The source text for a message; `…` where it is long.
std::string excerpt(Context &ctx, Span span);
/// The help for a list where an array is needed.
void helpWithList(DiagnosticBuilder report);
/// The note which integers a type holds, where a constant is none of them.
void noteIntegers(DiagnosticBuilder report, ElemKind kind, const ConstValue &value);

/// Whether a generic or concrete element type satisfies a constraint.
bool elemIs(Elem elem, ElemConstraint constraint);
inline bool elemIsInt(Elem elem) { return !elem.param && elem.kind == ElemKind::Int; }
/// `acc(T)` of an element type.
Elem accElem(Elem elem);

} // namespace ptl
