// Source ranges in IR locations. A location of MLIR has a line and a column. If ranges are asked
// for (`EntryBinding::ranges`) it also has the end in the source, and inside an inlined callee the
// place of the call.
#pragma once

#include "frontend/base/span.h"

#include "mlir/IR/Location.h"

#include <vector>

namespace ptl::ir {

/// `at` together with the range it stands for.
mlir::Location rangeLocation(mlir::FileLineColLoc at, Span span);

/// The ranges of a location, innermost first: an expression of a callee comes before the call it
/// was built for. A location made of several has the ranges of all. Empty without ranges.
std::vector<Span> rangesOf(mlir::Location location);

} // namespace ptl::ir
