// The records of the operations of the IR.
#pragma once

#include "ir/ops/op_lowering.h"

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The record of an operation by its name, `ptl.add`; nothing for structural operations and those
/// of other dialects.
std::optional<OpId> opIdOf(llvm::StringRef name);
std::optional<OpId> opIdOf(mlir::Operation *op);
/// The name in IR, `ptl.add`.
llvm::StringRef operationName(OpId id);

/// The operation by which a `scatter` or an atomic store combines elements, by the word of its
/// attribute: `add`, `max` or `min`. Nothing for `set`, which overwrites them.
std::optional<OpId> combinerNamed(llvm::StringRef word);

/// The part of an operation's record that targets use; null if it has no record.
const OpLowering *loweringOf(mlir::Operation *op);

} // namespace ptl::ir
