// Boxes (rectangular parts) of arrays: parts that are read as views or element by element, and
// parts that are written.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A box as a view; the dropped axes are left out.
View boxView(Lowering &l, const View &base, mlir::ValueRange offsets, mlir::ValueRange lengths,
             mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped);
/// The coordinates in the base array of an element of a box.
Coords boxCoords(Lowering &l, mlir::ValueRange offsets, mlir::ValueRange steps,
                 llvm::ArrayRef<int64_t> dropped, const Coords &at);
/// An element of a box; positions outside the base array read as `outside`.
mlir::Value boxElementOutside(Lowering &l, const View &base, mlir::ValueRange offsets,
                              mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped,
                              mlir::Value outside, const Coords &at);
/// The axis of the box that corresponds to an axis of the base, as attributes number them (the box
/// lacks the dropped axes). -1 if there is no such axis.
int64_t boxAxis(std::optional<uint64_t> axis, llvm::ArrayRef<int64_t> dropped);
/// Writes a value to a box. Positions along `indexAxis` come from the index array if there is one.
/// `atomic` names the combiner by which elements are added to the stored ones; without it they are
/// overwritten. Where the condition `streamed` is given and holds, stores may bypass the caches
/// (streamed_store.h).
void storeBox(Lowering &l, mlir::Value value, const View &box, mlir::Value indexArray,
              int64_t indexAxis, llvm::StringRef atomic, mlir::Value streamed = {});
/// Lowers `ptl.store`. In a program the store is a task of its own.
void lowerStore(Lowering &l, ir::StoreOp op);

} // namespace ptl::cpu
