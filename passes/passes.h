// The compiler's MLIR passes; `passes.td` is their table.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/pto_dialect.h"
#include "machines/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace ptl::ir {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/passes.h.inc"

/// `ptl-legalize` for any machine, including a user's.
std::unique_ptr<mlir::Pass> createLegalizeFor(Machine machine);
/// The same for `ptl-chunk`.
std::unique_ptr<mlir::Pass> createChunkFor(const ChunkOptions &options, Machine machine);

} // namespace ptl::ir
