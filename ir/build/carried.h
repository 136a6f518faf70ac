// Finds the values that regions of control flow carry: outer locals that are assigned inside.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Where the carried values are stored: in locals, flags and the slot of a `return`.
using Slots = llvm::SmallVector<mlir::Value *>;

/// The slots that the blocks assign, and the calls in `condition` by their `inout`s, in the order of
/// declaration. `condition` may be null.
Slots assignedSlots(BuildContext &c, const std::vector<const ptl::Block *> &blocks,
                    const Expr *condition = nullptr);
void addSlots(Bound &bound, Slots &slots);
llvm::SmallVector<mlir::Value> slotValues(const Slots &slots);
void setSlots(const Slots &slots, mlir::ValueRange values);
/// The slots' values with these types; arrays whose types differ only in their description are
/// cast.
llvm::SmallVector<mlir::Value> slotValuesAs(BuildContext &c, const Slots &slots,
                                            mlir::TypeRange types, mlir::Location loc);
mlir::Value castTo(BuildContext &c, mlir::Value value, mlir::Type type, mlir::Location loc);

/// Names a loop's variable, or a value that the loop carries, for later stages.
void nameArgument(mlir::BlockArgument argument, llvm::StringRef name);
/// Names arguments after the locals whose slots they are; parts of tuples and flags have no names.
void nameArguments(BuildContext &c, const Slots &slots, mlir::Block::BlockArgListType arguments);

} // namespace ptl::ir
