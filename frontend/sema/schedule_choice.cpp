#include "frontend/sema/schedule_choice.h"

namespace ptl {

static std::optional<bool> compare(std::string_view op, int64_t a, int64_t b) {
  if (op == "==")
    return a == b;
  if (op == "!=")
    return a != b;
  if (op == "<")
    return a < b;
  if (op == "<=")
    return a <= b;
  if (op == ">")
    return a > b;
  if (op == ">=")
    return a >= b;
  return std::nullopt;
}

static std::optional<int64_t> evaluateInt(const Expr &expr, const StaticValues &values) {
  if (expr.dim)
    return evaluate(expr.dim, values.symbols);
  if (expr.kind == ExprKind::Const)
    return static_cast<const ConstExpr &>(expr).intValue;
  if (auto truth = evaluateCondition(expr, values))
    return *truth;
  return std::nullopt;
}

static std::optional<bool> evaluateOp(const OpExpr &expr, const StaticValues &values) {
  if (!expr.op || expr.args.empty() || !expr.args[0])
    return std::nullopt;
  if (expr.op->name == "not" && expr.args.size() == 1) {
    auto operand = evaluateCondition(*expr.args[0], values);
    return operand ? std::optional(!*operand) : std::nullopt;
  }
  if (expr.args.size() != 2 || !expr.args[1])
    return std::nullopt;
  auto a = evaluateInt(*expr.args[0], values), b = evaluateInt(*expr.args[1], values);
  return a && b ? compare(expr.op->name, *a, *b) : std::nullopt;
}

std::optional<bool> evaluateCondition(const Expr &condition, const StaticValues &values) {
  switch (condition.kind) {
  case ExprKind::Const: return static_cast<const ConstExpr &>(condition).intValue != 0;
  case ExprKind::LocalRef:
    return values.boolTunable ? values.boolTunable(*static_cast<const LocalRefExpr &>(condition).local)
                              : std::nullopt;
  case ExprKind::Op: return evaluateOp(static_cast<const OpExpr &>(condition), values);
  case ExprKind::Logical: {
    auto &logical = static_cast<const LogicalExpr &>(condition);
    auto a = evaluateCondition(*logical.lhs, values);
    if (!a || *a != logical.isAnd)
      return a;
    return evaluateCondition(*logical.rhs, values);
  }
  default: return std::nullopt;
  }
}

const ScheduleDecl *chooseSchedule(const CheckedProgram &program, const CallableDecl &callee,
                                   std::string_view target, const StaticValues &values) {
  for (std::string_view machine : {target, std::string_view()})
    for (const auto &module : program.modules)
      for (const ScheduleDecl *schedule : module->schedules) {
        if (schedule->target != &callee || schedule->machine != machine)
          continue;
        if (!schedule->when || evaluateCondition(*schedule->when, values).value_or(false))
          return schedule;
      }
  return nullptr;
}

} // namespace ptl
