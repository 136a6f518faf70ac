// Symbolic bounds: replaces the symbols that may not stand in the answer by what bounds them, one
// at a time in the whole polynomial, so that what belongs together (`start + len`) cancels.
#pragma once

#include "frontend/dim/facts.h"

namespace ptl {

/// `FactSet::symbolicLowerBound`: a polynomial in allowed symbols that is never above `a`; unknown if none is found.
Dim boundFromBelow(const FactSet &facts, Dim a, const AllowedSymbols &allowed);

} // namespace ptl
