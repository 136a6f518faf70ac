// A `scan` or `reduce` that the checker has written out in steps, as it was before: targets that have code for folds take that instead.
#pragma once

#include "frontend/sema/checked_expr.h"

namespace ptl {

/// What an `if true` is written out from (`IfExpr::fold`).
struct WrittenFold {
  std::vector<Expr *> operands, starts; ///< one of each for each result
  int64_t axis = -1;                    ///< from the end
  bool isReduce = false, keepsAxis = true;
  const CallExpr *step = nullptr; ///< a call of the function; null if there are no steps
};

} // namespace ptl
