#include "codegen/parts/chunk_schedule.h"

#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl::parts {

/// Whether a condition on sizes holds; nothing of a condition on anything else.
static std::optional<bool> holds(const Expr &condition, const DimLookup &size) {
  if (const auto *constant = dyn_cast<ConstExpr>(&condition))
    return constant->intValue != 0;
  if (const auto *both = dyn_cast<LogicalExpr>(&condition)) {
    std::optional<bool> lhs = holds(*both->lhs, size), rhs = holds(*both->rhs, size);
    if (lhs && rhs)
      return both->isAnd ? *lhs && *rhs : *lhs || *rhs;
    // One side alone may decide.
    bool decides = !both->isAnd;
    return lhs == decides || rhs == decides ? std::optional(decides) : std::nullopt;
  }
  const auto *op = dyn_cast<OpExpr>(&condition);
  if (!op || !op->op || op->args.empty())
    return std::nullopt;
  if (op->op->id == OpId::Not) {
    std::optional<bool> inner = holds(*op->args[0], size);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (op->args.size() != 2 || !op->args[0]->dim || !op->args[1]->dim)
    return std::nullopt;
  std::optional<int64_t> a = evaluate(op->args[0]->dim, size), b = evaluate(op->args[1]->dim, size);
  if (!a || !b)
    return std::nullopt;
  switch (op->op->id) {
  case OpId::Eq:
    return *a == *b;
  case OpId::Ne:
    return *a != *b;
  case OpId::Lt:
    return *a < *b;
  case OpId::Le:
    return *a <= *b;
  case OpId::Gt:
    return *a > *b;
  case OpId::Ge:
    return *a >= *b;
  default:
    return std::nullopt;
  }
}

static const ScheduleDecl *scheduleOf(const CheckedProgram &program, const CallableDecl &decl,
                                      std::string_view machine, const DimLookup &size) {
  for (std::string_view of : {machine, std::string_view()})
    for (const auto &module : program.modules)
      for (const ScheduleDecl *schedule : module->schedules)
        if (schedule->target == &decl && schedule->machine == of &&
            (!schedule->when || holds(*schedule->when, size) == true))
          return schedule;
  return nullptr;
}

void applySchedule(const CheckedProgram &program, std::string_view machine, const DimLookup &size,
                   PlacedProgram &placed) {
  const ScheduleDecl *schedule = scheduleOf(program, *placed.decl, machine, size);
  if (!schedule)
    return;
  for (const ScheduleDirective &directive : schedule->directives)
    for (const auto &[local, id] : placed.locals)
      if (directive.chunks && local->name == directive.label &&
          placed.values[id].kind == PlacedKind::Move)
        placed.values[id].chunks = directive.chunks;
}

} // namespace ptl::parts
