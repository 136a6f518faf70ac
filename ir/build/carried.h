// Values that regions of control flow carry: locals assigned inside that live outside.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Where the values are kept: in locals, flags and the slot of a `return`.
using Slots = llvm::SmallVector<mlir::Value *>;

/// Those of what the blocks assign, in the order of declaration.
Slots assignedSlots(BuildContext &c, const std::vector<const ptl::Block *> &blocks);
void addSlots(Bound &bound, Slots &slots);
llvm::SmallVector<mlir::Value> slotValues(const Slots &slots);
void setSlots(const Slots &slots, mlir::ValueRange values);
/// The slots' values as those types: arrays that are only described differently are cast.
llvm::SmallVector<mlir::Value> slotValuesAs(BuildContext &c, const Slots &slots,
                                            mlir::TypeRange types, mlir::Location loc);
mlir::Value castTo(BuildContext &c, mlir::Value value, mlir::Type type, mlir::Location loc);

/// Later stages call a loop's variable, and what the loop carries, by these names.
void nameArgument(mlir::BlockArgument argument, llvm::StringRef name);
/// A slot has the name of the local whose value it is; parts of tuples and flags have none.
void nameArguments(BuildContext &c, const Slots &slots, mlir::Block::BlockArgListType arguments);

} // namespace ptl::ir
