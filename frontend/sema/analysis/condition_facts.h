// What conditions of a program say of lengths.
#pragma once

#include "frontend/dim/facts.h"

#include <functional>

namespace ptl {

struct Expr;

/// Adds what a condition says to the facts: comparisons of dimensions, joined by `and`. Others are
/// ignored. `named`: dimensions of the condition by the names that the facts have for them.
void assumeCondition(
    FactSet &facts, const Expr *condition,
    const std::function<Dim(Dim)> &named = [](Dim dim) { return dim; });

} // namespace ptl
