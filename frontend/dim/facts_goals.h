// What the form of a goal tells the prover before it eliminates.
#pragma once

#include "frontend/dim/dim.h"

namespace ptl {

/// A `min` or a `max`.
bool isChoice(const DimAtom &atom);
/// Whether the goal has a product x*y, so that facts about y times x >= 0 may help.
bool hasProduct(Dim goal);
/// The divisor of a quotient in a sum, where it is no number; else nothing.
Dim symbolicDivisor(DimContext &context, Dim sum);
/// For `a >= 0` the same in whole numbers, as tight as they allow: `8*x - 8*y + 7` gives `x - y`. What is multiplied afterwards would
/// multiply the slack, too.
Dim tightened(DimContext &context, Dim a);

} // namespace ptl
