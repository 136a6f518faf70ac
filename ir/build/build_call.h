// Builds calls: the callee's body is inlined, with its dimensions expressed in the entry's.
#pragma once

#include "frontend/sema/calls/written_fold.h"
#include "ir/build/build_context.h"

namespace ptl::ir {

Bound buildCall(BuildContext &c, const CallExpr &expr);
/// The results of a fold with a function, where the target has code for that; none if its steps have to be built.
Bound buildFold(BuildContext &c, const WrittenFold &fold, mlir::Location loc);
/// Whether a scan of a program for a chip goes position by position along its axis instead of in steps that
/// each go through all elements: an `i1`, which lengths may decide at run time; null if it never does.
mlir::Value goesByPosition(BuildContext &c, const WrittenFold &fold, mlir::Location loc);
/// The results of such a scan: a loop that carries one element of each lane, the axes beside that of the scan.
Bound buildByPosition(BuildContext &c, const WrittenFold &fold, mlir::Location loc);

} // namespace ptl::ir
