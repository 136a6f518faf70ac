// Source ranges in IR locations. A location of MLIR has a line and a column; with ranges asked for
// (`EntryBinding::ranges`) it also says where in the source it ends, and in a callee built in place
// where the call stands.
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
