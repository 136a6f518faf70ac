// Places statements that take several values apart, check something, or assign elements of an array.
#pragma once

#include "frontend/sema/placement/placer.h"

namespace ptl {

/// The block of an `if true` with a value; null for all other expressions.
const Block *blockAlwaysTaken(const Expr &expr);

class StatementWalk {
public:
  explicit StatementWalk(Placer &placer) : p_(placer) {}

  /// `let (values, positions) = topk(x, 2)`.
  void letAll(const LetStmt &stmt);
  /// The values of a block that is always taken, `if true { … }`, as which `scan` is written out.
  std::vector<ValueId> block(const Block &block);
  /// An `assert`, which each part checks that has its condition.
  void check(const AssertStmt &stmt);
  /// A `print`, once for all parts that have its operands.
  void print(const OpExpr &expr);
  /// `cache[:, step, :] = row`: the variable with other elements there.
  void store(const AssignStmt &stmt);

private:
  bool isAll(const PlacedValue &index, ValueId have, ValueId given) const;

  Placer &p_;
};

} // namespace ptl
