// Evaluates index expressions, with every bound checked.
#pragma once

#include "codegen/reference/array_region.h"
#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// What an index expression reads: elements of an array, or one part of a tuple or a list. Only what
/// is selected must have been written.
Value evalIndex(RunState &run, const IndexExpr &expr);

/// The elements that the items of an index expression select of an array of that shape. If `checked`,
/// a position outside of the array stops the run.
Region regionOf(RunState &run, const IndexExpr &expr, std::span<const int64_t> shape, bool checked);

} // namespace ptl::reference
