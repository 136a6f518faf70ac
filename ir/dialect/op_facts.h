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

/// The operation that a `scatter` or an atomic store combines elements with, by the word of its
/// attribute: `add`, `max` or `min`. None for `set`, which replaces what is there.
std::optional<OpId> combinerNamed(llvm::StringRef word);

/// What targets need to know of an operation; null where it has no record.
const OpLowering *loweringOf(mlir::Operation *op);

} // namespace ptl::ir
