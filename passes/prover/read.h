// Translates kernels from block IR to the prover's model.
#pragma once

#include "passes/prover/findings.h"
#include "passes/prover/model.h"

#include "mlir/IR/BuiltinOps.h"

namespace ptl::prove {

/// The kernels of a module, as one of several core groups runs them. Operations that cannot be
/// analysed are reported to `findings` as undecided; the rest is translated all the same.
std::vector<Kernel> readKernels(mlir::ModuleOp module, const Machine &machine, Findings &findings,
                                int64_t group = 0, int64_t groups = 1);

} // namespace ptl::prove
