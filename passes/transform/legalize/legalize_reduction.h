// Rewrites of reductions.
#pragma once

#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// The rows of these operations in the table that `legalize.cpp` joins.
llvm::ArrayRef<Row> reductionRows();

} // namespace ptl::ir::legalize
