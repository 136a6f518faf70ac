// Operands and their types: constants take a type, `int` becomes another integer type, values go to
// places of a known type.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// A checked operand: an expression, or a constant that still waits for a type.
struct Operand {
  NodeId node = kNoNode;
  Span span;
  Expr *expr = nullptr; ///< null while `constant` waits
  std::optional<ConstValue> constant;

  bool isUntyped() const { return !expr; }
  bool isError() const { return expr && expr->type->isError(); }
  bool isIntScalar() const { return expr && expr->type->isInt(); }
};

/// The operand with an element type: constants take it, `int` scalars convert to integers. The
/// types must agree already otherwise.
Expr *operandAs(Context &ctx, const Operand &operand, Elem elem);
/// Without a context: `int`, else `f32`.
Expr *settle(Context &ctx, const Operand &operand);
/// Makes the `ConstExpr` of a constant for a type; reports what does not fit.
Expr *makeConst(Context &ctx, const ConstValue &value, const Type *type, NodeId node,
                RoundMode mode = RoundMode::Even);
/// The constant `true`.
Expr *trueExpr(Context &ctx, NodeId node);
/// The type an untyped constant takes by itself.
Elem defaultElem(const ConstValue &constant);
/// An `int` scalar as a value of an integer type.
Expr *convertInt(Context &ctx, Expr *value, Elem elem);
/// Converts a value to what a place of type `target` takes: literals, `int` to integers, equal
/// shapes. Reports a mismatch with `what` ("the initial value", "the default of `eps`").
Expr *convertTo(Context &ctx, Expr *value, const Type *target, std::string_view what);

/// Whether a generic or concrete element type is of a class.
bool elemIs(Elem elem, ElemConstraint constraint);
inline bool elemIsInt(Elem elem) { return !elem.param && elem.kind == ElemKind::Int; }
/// `acc(T)` of an element type.
Elem accElem(Elem elem);

} // namespace ptl
