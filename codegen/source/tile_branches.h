// Branches as statements.
#pragma once

#include "codegen/source/body_code.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::source {

/// Prints a branch: one that assigns variables where its results are new values of these, else one
/// whose arms end in their values.
void printBranch(BodyCode &code, mlir::scf::IfOp branch);

} // namespace ptl::source
