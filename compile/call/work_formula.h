// The `flops` formulas of the op records, applied to operations of the IR.
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace ptl {

/// The extents of an array value as numbers; nothing if one is unknown.
using ExtentsOf = std::function<std::optional<std::vector<int64_t>>(mlir::Type type)>;

/// Whether the operation has a record with a formula, and computes with floating-point numbers.
bool countsFlops(mlir::Operation &op);

/// The value of the record's formula. Precondition: `countsFlops(op)`.
std::optional<int64_t> flopsOf(mlir::Operation &op, const ExtentsOf &extentsOf);

/// Whether an element type of an operand or result satisfies `isWanted`.
bool touchesElement(mlir::Operation &op, llvm::function_ref<bool(mlir::Type)> isWanted);

} // namespace ptl
