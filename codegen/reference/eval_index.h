// Evaluates index expressions and checks every bound.
#pragma once

#include "codegen/reference/array_region.h"
#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of an index expression: elements of an array, or one part of a tuple or a list. Only
/// the selected elements need to be initialised.
Value evalIndex(RunState &run, const IndexExpr &expr);

/// The elements that the items of an index expression select from an array of that shape. If
/// `checked`, a position outside the array stops the run.
Region regionOf(RunState &run, const IndexExpr &expr, std::span<const int64_t> shape, bool checked);

} // namespace ptl::reference
