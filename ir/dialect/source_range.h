// Source ranges in IR locations. A location of MLIR has a line and a column. With
// `EntryBinding::ranges` it also has the end in the source and, inside an inlined callee, the
// location of the call.
#pragma once

#include "frontend/base/span.h"

#include "mlir/IR/Location.h"

#include <vector>

namespace ptl::ir {

/// `at`, extended by its source range.
mlir::Location rangeLocation(mlir::FileLineColLoc at, Span span);

/// The ranges of a location, innermost first: an expression of a callee comes before the call it
/// was built for. A fused location has the ranges of all its parts. Empty if locations have no
/// ranges.
std::vector<Span> rangesOf(mlir::Location location);

} // namespace ptl::ir
