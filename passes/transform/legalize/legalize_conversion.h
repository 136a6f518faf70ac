// Rewrites of conversions.
#pragma once

#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// The rows of these operations in the table that `legalize.cpp` joins.
llvm::ArrayRef<Row> conversionRows();

} // namespace ptl::ir::legalize
