// Boxes of arrays: parts that are read as views or element by element, and parts that are written.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A box of elements as a view, without its dropped axes.
View boxView(Lowering &l, const View &base, mlir::ValueRange offsets, mlir::ValueRange lengths,
             mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped);
/// The coordinates in the base of an element of a box.
Coords boxCoords(Lowering &l, mlir::ValueRange offsets, mlir::ValueRange steps,
                 llvm::ArrayRef<int64_t> dropped, const Coords &at);
/// An element of a box; positions beyond the edges of the base read as `outside`.
mlir::Value boxElementOutside(Lowering &l, const View &base, mlir::ValueRange offsets,
                              mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped,
                              mlir::Value outside, const Coords &at);
/// The axis of the box that corresponds to an axis of the base, as attributes count them; the box
/// lacks the dropped axes. -1 if there is none.
int64_t boxAxis(std::optional<uint64_t> axis, llvm::ArrayRef<int64_t> dropped);
/// Writes a value to a box. Positions along `indexAxis` come from the index array if there is one;
/// `atomic` is how elements are combined with those that are there, if they are combined. Where `streamed` is there and holds,
/// stores may go past the caches.
void storeBox(Lowering &l, mlir::Value value, const View &box, mlir::Value indexArray,
              int64_t indexAxis, llvm::StringRef atomic, mlir::Value streamed = {});
/// Lowers `ptl.store`. In a program it is a task of its own.
void lowerStore(Lowering &l, ir::StoreOp op);

} // namespace ptl::cpu
