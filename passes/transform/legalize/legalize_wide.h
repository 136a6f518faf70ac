// Integers of 64 bits, which vector units move and convert but do not compare, choose between or reduce.
#pragma once

#include "ir/ops/op_table.h"
#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// Whether the type is an integer of 64 bits that the machine converts from and to words and to `f32`: what
/// the functions below take.
bool isWide(const Tiles &t, mlir::Type type);

mlir::Value compareWide(const Tiles &t, mlir::Operation *op);
/// Chooses between two of them, by a condition that is a tile.
mlir::Value selectWide(const Tiles &t, mlir::Value condition, mlir::Value a, mlir::Value b);
/// `max` and `min`.
mlir::Value extremeWide(const Tiles &t, mlir::Operation *op);
/// The product, which wraps.
mlir::Value multiplyWide(const Tiles &t, mlir::Value a, mlir::Value b);
mlir::Value absoluteWide(const Tiles &t, mlir::Value x);
mlir::Value signWide(const Tiles &t, mlir::Value x);
/// Sums and extremes along axes, which stay with extent 1; null for other reductions, and where an axis is
/// longer than the words hold. `reduceWords` reduces words along the same axes by the operation of this name.
mlir::Value reduceWide(const Tiles &t, ptl::OpId kind, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                       llvm::function_ref<mlir::Value(ptl::OpId, mlir::Value)> reduceWords);

/// Positions of extremes along an axis, which stays with extent 1.
mlir::Value searchWide(const Tiles &t, mlir::Operation *op, int64_t axis,
                       llvm::function_ref<mlir::Value(ptl::OpId, mlir::Value)> reduceAlong);
/// An operation that moves the elements of its first operand, on each of their words.
mlir::Value onWords(const Tiles &t, mlir::Operation *op);

} // namespace ptl::ir::legalize
