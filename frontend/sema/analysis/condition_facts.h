// Derives facts about lengths from the conditions of a program, and proves conditions from facts.
#pragma once

#include "frontend/dim/facts.h"

#include <functional>

namespace ptl {

struct Context;
struct Expr;

/// Adds a condition to the facts: comparisons of dimensions, joined by `and`; other parts are
/// ignored. `named` maps dimensions of the condition to their names in the facts.
void assumeCondition(
    FactSet &facts, const Expr *condition,
    const std::function<Dim(Dim)> &named = [](Dim dim) { return dim; });
void assumeCondition(Context &ctx, const Expr *condition);
/// Adds to the facts that a condition is false.
void assumeNot(Context &ctx, const Expr *condition);

/// Whether the facts prove or refute a condition over dimensions.
Proof conditionProof(Context &ctx, const Expr *condition);
/// Whether the value of a condition is known at compile time: constants, tunables, `static`
/// dimensions.
bool isStaticValue(Context &ctx, const Expr *expr);

} // namespace ptl
