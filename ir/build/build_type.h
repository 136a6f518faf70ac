// Converts types of the language to types of the IR.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

ElemKind elemKind(BuildContext &c, const Elem &elem);
/// The type of a value.
mlir::Type irType(BuildContext &c, const Type &type);
/// The type of storage in global memory.
RefType refType(BuildContext &c, const Type &type);
llvm::SmallVector<Extent> irExtents(BuildContext &c, const Type &type);
/// The extent of an axis of a root length, with a bound that may be unknown.
Extent rootExtent(BuildContext &c, Dim length, Dim capacity);
/// Operands of `ptl.alloc` and creation operations: the lengths that are not constants.
llvm::SmallVector<mlir::Value> namedLengths(BuildContext &c, const Type &type);
/// The length of an axis of an array or of storage.
mlir::Value lengthOf(BuildContext &c, mlir::Value arrayOrRef, int64_t axis);

} // namespace ptl::ir
