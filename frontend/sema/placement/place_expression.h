// The walk over the body of a program: expressions and calls.
#pragma once

#include "frontend/sema/placement/placer.h"

namespace ptl {

/// An expression whose operands are judged, with their sources.
struct JudgedExpr {
  const Expr &expr;
  std::string name;
  const std::vector<const Expr *> &args;
};

class ExpressionWalk {
public:
  explicit ExpressionWalk(Placer &placer) : p_(placer) {}

  ValueId value(const Expr &expr);
  /// The values of a tuple, or the value of anything else.
  std::vector<ValueId> values(const Expr &expr);

  /// The rule of an operation over one level.
  using Judge = std::function<PlacementVerdict(std::span<const PlacedOperand>)>;
  /// Judges the operands of `made` level by level and slices them. Returns the placement of the
  /// result.
  Placement operandPlacements(const JudgedExpr &judged, const Judge &judge, PlacedValue &made);

private:
  ValueId local(const LocalRefExpr &expr);
  std::vector<ValueId> apply(const OpExpr &expr);
  ValueId convert(const ConvertExpr &expr);
  ValueId move(const ConvertExpr &expr, const MovementRecord &movement);
  ValueId moveRows(const ConvertExpr &expr, const MovementRecord &movement);
  ValueId index(const IndexExpr &expr);
  std::vector<ValueId> call(const CallExpr &expr);
  std::vector<ValueId> outputsOf(const CallableDecl &callee, const std::vector<const Stmt *> &stmts,
                                 const CallExpr &expr);
  /// The variable of a loop that is whole over a level and meets a partial operand; empty if there is none.
  std::string carriedBeside(size_t level, const PlacedValue &made, size_t partial) const;
  LevelPlacement overLevel(size_t level, const JudgedExpr &judged, const Judge &judge,
                           const PlacedValue &made, std::vector<Placement> &operands);

  Placer &p_;
};

} // namespace ptl
