// Branches as statements.
#pragma once

#include "codegen/source/body_code.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::source {

/// Prints a branch. It assigns variables if its results are new values of these; otherwise its arms
/// end in values.
void printBranch(BodyCode &code, mlir::scf::IfOp branch);

} // namespace ptl::source
