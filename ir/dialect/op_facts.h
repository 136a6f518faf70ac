// The records of the operations of the IR.
#pragma once

#include "ir/ops/op_lowering.h"

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The record of an operation by its name, `ptl.add`; none for structural operations and those of
/// other dialects.
std::optional<OpId> opIdOf(llvm::StringRef name);
std::optional<OpId> opIdOf(mlir::Operation *op);
/// The name in IR, `ptl.add`.
llvm::StringRef operationName(OpId id);

/// What targets need to know of an operation; null where it has no record.
const OpLowering *loweringOf(mlir::Operation *op);

} // namespace ptl::ir
