#include "frontend/sema/reported.h"

#include "frontend/base/source.h"
#include "frontend/sema/walk.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

static std::optional<bool> comparisonHolds(const OpExpr &op, const DimLookup &dims) {
  if (!op.op || op.op->opClass != OpClass::Comparison || op.args.size() != 2 || !op.args[0] ||
      !op.args[1] || !op.args[0]->dim || !op.args[1]->dim)
    return std::nullopt;
  std::optional<int64_t> a = evaluate(op.args[0]->dim, dims), b = evaluate(op.args[1]->dim, dims);
  if (!a || !b)
    return std::nullopt;
  std::string_view name = op.op->name;
  return name == "=="   ? *a == *b
         : name == "!=" ? *a != *b
         : name == "<=" ? *a <= *b
         : name == "<"  ? *a < *b
         : name == ">=" ? *a >= *b
                        : *a > *b;
}

std::optional<bool> conditionHolds(const Expr &condition, const DimLookup &dims,
                                   const LocalLookup &locals) {
  switch (condition.kind) {
  case ExprKind::Const:
    return cast<ConstExpr>(condition).intValue != 0;
  case ExprKind::LocalRef:
    if (std::optional<int64_t> value = locals(*cast<LocalRefExpr>(condition).local))
      return *value != 0;
    return std::nullopt;
  case ExprKind::Logical: {
    const auto &logical = cast<LogicalExpr>(condition);
    std::optional<bool> lhs = conditionHolds(*logical.lhs, dims, locals),
                        rhs = conditionHolds(*logical.rhs, dims, locals);
    // One operand may decide even if the other one is not known.
    bool decides = !logical.isAnd;
    if (lhs == decides || rhs == decides)
      return decides;
    return lhs && rhs ? std::optional(!decides) : std::nullopt;
  }
  case ExprKind::Op: {
    const auto &op = cast<OpExpr>(condition);
    if (op.op && op.op->name == "not" && op.args.size() == 1 && op.args[0]) {
      std::optional<bool> inner = conditionHolds(*op.args[0], dims, locals);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    return comparisonHolds(op, dims);
  }
  default:
    return std::nullopt;
  }
}

const ScheduleDecl *applyingSchedule(const CheckedProgram &program, const CallableDecl &decl,
                                     std::string_view machine, const DimLookup &dims) {
  LocalLookup none = [](const Local &) { return std::nullopt; };
  for (std::string_view name : {machine, std::string_view()})
    for (const auto &module : program.modules)
      for (const ScheduleDecl *schedule : module->schedules)
        if (schedule->target == &decl && schedule->machine == name &&
            (!schedule->when || conditionHolds(*schedule->when, dims, none).value_or(false)))
          return schedule;
  return nullptr;
}

const WhereClause *excludingWhere(const CallableDecl &decl, const LocalLookup &values) {
  DimLookup dims = [&](SymbolId symbol) -> std::optional<int64_t> {
    for (const Tunable &tunable : decl.tunables)
      if (tunable.local->symbol && *tunable.local->symbol == symbol)
        return values(*tunable.local);
    return std::nullopt;
  };
  for (const WhereClause &where : decl.wheres)
    if (where.onTunables && where.condition &&
        !conditionHolds(*where.condition, dims, values).value_or(true))
      return &where;
  return nullptr;
}

static bool isNamed(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::LocalRef:
  case ExprKind::Dim:
    return true;
  case ExprKind::Field:
    return isNamed(*cast<FieldExpr>(expr).base);
  default:
    return false;
  }
}

std::vector<const Expr *> reportedValues(const Expr &condition, const SourceManager &sources) {
  std::vector<const Expr *> values;
  auto add = [&](const Expr &expr) {
    bool isConstant = expr.kind == ExprKind::Const ||
                      (!isNamed(expr) && expr.dim.isKnown() && expr.dim.isConstant());
    if (isConstant || !expr.type->isScalar() || expr.span.file == kNoFile ||
        expr.span.begin == expr.span.end)
      return;
    auto sameText = [&](const Expr *other) {
      return sources.text(other->span) == sources.text(expr.span);
    };
    // A value that is written twice is the same, since conditions have no effects.
    if (std::none_of(values.begin(), values.end(), sameText))
      values.push_back(&expr);
  };
  if (condition.kind == ExprKind::Op) {
    const auto &op = cast<OpExpr>(condition);
    if (op.op->opClass == OpClass::Comparison)
      for (const Expr *operand : op.args)
        if (operand)
          add(*operand);
  }
  forEachExpr(&condition, [&](const Expr *expr) {
    if (isNamed(*expr))
      add(*expr);
  });
  return values;
}

} // namespace ptl
