// Lowers a module to blocks of code.
#pragma once

#include "codegen/cpu/lower.h"

namespace ptl::cpu {

/// Lowers every function of a tile-level `ptl` module to func, cf, arith, math, vector and llvm. A
/// function `f` becomes an entry of the runtime (`PtlEntryFn` of runtime/abi/kernel_abi.h) of the
/// same name. Null after reporting to MLIR's diagnostic handler. If `deferred` is given, functions
/// of products are only declared, and listed in it.
mlir::OwningOpRef<mlir::ModuleOp> lowerToBlocks(mlir::ModuleOp source, const Processor &processor,
                                                DeferredFunctions *deferred = nullptr);

} // namespace ptl::cpu
