// Facts about lengths from the conditions of a program, and proofs of conditions from facts.
#pragma once

#include "frontend/dim/facts.h"

#include <functional>

namespace ptl {

struct Context;
struct Expr;

/// Adds what a condition says to the facts: comparisons of dimensions, joined by `and`. Others are
/// ignored. `named`: dimensions of the condition by the names that the facts have for them.
void assumeCondition(
    FactSet &facts, const Expr *condition,
    const std::function<Dim(Dim)> &named = [](Dim dim) { return dim; });
void assumeCondition(Context &ctx, const Expr *condition);
/// Adds to the facts that a condition is false.
void assumeNot(Context &ctx, const Expr *condition);

/// What the facts say of a condition over dimensions.
Proof conditionProof(Context &ctx, const Expr *condition);
/// A condition whose value is known when compiling: constants, tunables, `static` dimensions.
bool isStaticValue(Context &ctx, const Expr *expr);

} // namespace ptl
