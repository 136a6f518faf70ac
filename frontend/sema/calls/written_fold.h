// A `scan` or `reduce` that the checker has written out in steps, with what it was: targets that have code for folds take that instead.
#pragma once

#include "frontend/sema/checked_expr.h"
#include "frontend/sema/checked_stmt.h"

namespace ptl {

/// The block of statements that a fold is written out to.
struct WrittenFold : Block {
  /// The number in the condition of an `if true` whose block is a fold. A condition is no number otherwise, so no other one has it.
  static constexpr double kMark = -0.375;

  std::vector<Expr *> operands, starts; ///< one of each for each result
  int64_t axis = -1;                    ///< from the end
  bool isReduce = false, keepsAxis = true;
  const CallExpr *step = nullptr; ///< a call of the function; null if there are no steps
};

/// The fold that an `if` is; null for others.
inline const WrittenFold *foldOf(const IfExpr &expr) {
  const auto *condition = dyn_cast<ConstExpr>(expr.condition);
  return condition && condition->floatValue == WrittenFold::kMark
             ? static_cast<const WrittenFold *>(expr.thenBlock)
             : nullptr;
}

} // namespace ptl
