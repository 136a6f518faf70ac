// Boxes of arrays: parts that are read as views or element by element, and parts that are written.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A box of elements as a view, without its dropped axes.
View boxView(Lowering &l, const View &base, mlir::ValueRange offsets, mlir::ValueRange lengths,
             mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped);
/// Where in the base the element of a box lies.
Coords boxCoords(Lowering &l, mlir::ValueRange offsets, mlir::ValueRange steps,
                 llvm::ArrayRef<int64_t> dropped, const Coords &at);
/// An element of a box of which positions beyond the edges read as `outside`.
mlir::Value boxElementOutside(Lowering &l, const View &base, mlir::ValueRange offsets,
                              mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped,
                              mlir::Value outside, const Coords &at);
/// An attribute counts axes of the base: the axis of the box, which lacks the dropped ones. -1:
/// there is none.
int64_t boxAxis(std::optional<uint64_t> axis, llvm::ArrayRef<int64_t> dropped);
/// Writes a value to a box. Positions along `indexAxis` come from the index array if there is one;
/// `atomic` says how elements are combined with what is there, if at all.
void storeBox(Lowering &l, mlir::Value value, const View &box, mlir::Value indexArray,
              int64_t indexAxis, llvm::StringRef atomic);
/// `ptl.store`: in a program a task of its own.
void lowerStore(Lowering &l, ir::StoreOp op);

} // namespace ptl::cpu
