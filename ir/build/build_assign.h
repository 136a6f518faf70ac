// Builds bindings and assignments of locals, and stores to storage.
#pragma once

#include "ir/build/build_index.h"

namespace ptl::ir {

void buildLet(BuildContext &c, const LetStmt &stmt);
void buildAssign(BuildContext &c, const AssignStmt &stmt);

/// Binds a local to a value. The value gets the local's name, and the local's symbol is bound to
/// the value.
void bindLocal(BuildContext &c, Local &local, Bound value);
/// Where the array or scalar at the root of a place is bound: of a variable, or of a field of one
/// at any depth.
Bound &slotOf(BuildContext &c, const Expr &place);
Bound zeroOf(BuildContext &c, const Type &type, mlir::Location loc);
/// Stores a value to a box of storage.
void storeBox(BuildContext &c, mlir::Value value, mlir::Value ref, const Box &box, AssignMode mode,
              mlir::Location loc);
/// The same where the storage may be packed.
void storeInto(BuildContext &c, mlir::Value value, const Bound &target, const Box &box,
               AssignMode mode, mlir::Location loc);

} // namespace ptl::ir
