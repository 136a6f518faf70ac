// The walk over the body of a program: choices between two arms. All parts take the same one, and what both leave lies in one
// way.
#pragma once

#include "frontend/sema/placement/placer.h"

namespace ptl {

class ChoiceWalk {
public:
  explicit ChoiceWalk(Placer &placer) : p_(placer) {}

  /// A choice of statements. `rest` has those behind it, which stand in each arm that comes to them, if an arm leaves a loop or the
  /// declaration; otherwise it has none.
  void choice(const IfStmt &stmt, const Placer::Statements &rest);
  void choice(const Expr &holds, const Placer::Statements &then,
              const Placer::Statements &otherwise);
  /// An `if` with a value, whose arms may not change variables.
  ValueId choice(const IfExpr &expr);
  /// `and` and `or`: the right side counts, and is computed, only where the left one does not decide.
  ValueId logical(const LogicalExpr &expr);

  /// The value of a condition, which is the same on all parts.
  ValueId condition(const Expr &expr, const std::string &user);
  /// The values at the end of an arm; `given` has the latest values of its variables.
  struct ArmEnd {
    std::optional<ValueId> value = {}; ///< of an `if` with a value
    std::map<const Local *, ValueId> locals = {};
    std::map<const Local *, const Expr *> given = {};
  };
  /// Walks over one arm; afterwards names stand for what they stood for before.
  ArmEnd arm(PlacedChoice &choice, bool isThen,
             const std::function<std::optional<ValueId>()> &walk);
  /// The value of the arm that is taken.
  ValueId chosen(PlacedChoice &choice, ValueId then, ValueId otherwise, const std::string &name,
                 const ReportedValue &thenAs, const ReportedValue &otherwiseAs);

private:
  Placer &p_;
};

} // namespace ptl
