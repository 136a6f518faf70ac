// Builds loops: over positions, over tiles, over lists; static ones; `while`.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

void buildFor(BuildContext &c, const ForStmt &stmt);
void buildWhile(BuildContext &c, const WhileStmt &stmt);

// The functions below are also used for grids.

struct LoopBounds {
  mlir::Value lower, upper, step;
  mlir::Value tileSize; ///< null for loops over positions
};
LoopBounds loopBounds(BuildContext &c, const LoopHead &head);
/// Binds the loop's variable and the symbols of its range.
void bindLoopVar(BuildContext &c, const LoopHead &head, const LoopBounds &bounds,
                 mlir::Value position);
/// Unbinds the symbols of a loop, so that they get new values and names the next time the loop is
/// built.
void eraseSymbols(Frame &frame, const LoopHead &head);

} // namespace ptl::ir
