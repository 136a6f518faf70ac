// Schedules, tunables, outputs and bodies of declarations.
#include "ir/build/build_decl.h"
#include "frontend/sema/reported.h"
#include "ir/build/build_assign.h"
#include "ir/build/build_branch.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_index.h"
#include "ir/build/build_manual.h"
#include "ir/build/build_stmt.h"
#include "ir/build/build_task.h"
#include "ir/build/build_type.h"
#include "machines/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::ir {

static bool isLacking(BuildContext &c, const Type &type) {
  return (type.isArray() || type.isScalar()) &&
         llvm::is_contained(c.binding.lacking, elemKind(c, type.elem));
}

static void failToHave(BuildContext &c, const std::string &what, const Type &type, Span span) {
  c.fail(DiagId::ElementTypeNotOnTarget, span,
         {what, std::string(elemName(elemKind(c, type.elem))), c.binding.machine});
}

void checkElementType(BuildContext &c, const Type &type, Span span) {
  if (isLacking(c, type) && (type.isArray() || elemBits(elemKind(c, type.elem)) <= 8))
    failToHave(c, "a value here", type, span);
}

/// Of what a `fn` gives, which may be several values.
static void checkResult(BuildContext &c, const CallableDecl &decl, const Type &type) {
  for (const Type *element : type.elements)
    checkResult(c, decl, *element);
  if (isLacking(c, type))
    failToHave(c, decl.name, type, decl.nameSpan);
}

void checkElementTypes(BuildContext &c, const Frame &frame) {
  Frame copy = frame;
  Frame *outer = std::exchange(c.frame, &copy);
  bool isReported = false;
  for (const Local *local : frame.decl->locals)
    if (local->type && isLacking(c, *local->type)) {
      failToHave(c, local->name, *local->type, local->span);
      isReported = true;
    }
  if (!isReported && frame.decl->kind == DeclKind::Fn && frame.decl->returnType)
    checkResult(c, *frame.decl, *frame.decl->returnType);
  c.frame = outer;
}

/// Why a machine cannot use so many core groups; empty: it can.
static std::string whyNotCores(int64_t cores, const EntryBinding &binding) {
  if (!binding.chip || binding.chip->executable)
    return "on `" + binding.machine + "` threads do the work";
  int64_t most = 0;
  for (const char *kind : {"aic", "aiv"})
    if (const MachineCore *core = binding.chip->core(kind))
      most = std::max<int64_t>(most, core->count);
  if (most == 0 || cores <= most)
    return "";
  return "`" + binding.machine + "` has " + std::to_string(most) + " cores of a kind";
}

/// Whether a condition speaks of lengths alone. Tunables are chosen when compiling.
static bool isOverLengths(const Expr &condition, const CallableDecl &decl) {
  auto isTunable = [&](const Local *local) {
    return llvm::any_of(decl.tunables,
                        [&](const Tunable &tunable) { return tunable.local == local; });
  };
  if (condition.dim)
    return llvm::none_of(decl.tunables, [&](const Tunable &tunable) {
      return tunable.local->symbol && condition.dim.mentions(*tunable.local->symbol);
    });
  switch (condition.kind) {
  case ExprKind::Const:
    return true;
  case ExprKind::LocalRef:
    return !isTunable(cast<LocalRefExpr>(condition).local);
  case ExprKind::Logical:
    return isOverLengths(*cast<LogicalExpr>(condition).lhs, decl) &&
           isOverLengths(*cast<LogicalExpr>(condition).rhs, decl);
  case ExprKind::Op:
    return llvm::all_of(cast<OpExpr>(condition).args,
                        [&](const Expr *arg) { return arg && isOverLengths(*arg, decl); });
  default:
    return false;
  }
}

Schedules schedulesOf(BuildContext &c, const CallableDecl &decl, const Frame &frame) {
  Schedules result;
  auto holds = [&](const ScheduleDecl &schedule) -> std::optional<bool> {
    if (!schedule.when)
      return true;
    Frame copy = frame;
    Frame *outer = std::exchange(c.frame, &copy);
    std::optional<bool> known = constantCondition(buildValue(c, *schedule.when));
    c.frame = outer;
    return known;
  };
  // Schedules for this machine come before those for all. The first whose condition is known to hold ends the list; earlier ones, whose //
  // conditions only the running program can decide, are asked before it.
  for (bool forMachine : {true, false})
    for (const auto &module : c.program.modules)
      for (const ScheduleDecl *schedule : module->schedules) {
        if (schedule->target != &decl ||
            schedule->machine != (forMachine ? c.binding.machine : std::string()))
          continue;
        std::optional<bool> known = holds(*schedule);
        if (known == false || (!known && !isOverLengths(*schedule->when, decl)))
          continue;
        if (std::string why = schedule->cores ? whyNotCores(schedule->cores, c.binding) : "";
            !why.empty())
          c.fail(DiagId::ScheduleCannot, schedule->coresSpan,
                 {"cores " + std::to_string(schedule->cores), why});
        if (known) {
          result.otherwise = schedule;
          return result;
        }
        result.open.push_back(schedule);
      }
  return result;
}

/// Reports the `where` on tunables that their values exclude: the checker has relied on it.
static void requireConditions(BuildContext &c, const CallableDecl &decl,
                              const std::map<const Local *, int64_t> &values) {
  auto valueOf = [&](const Local &local) -> std::optional<int64_t> {
    auto found = values.find(&local);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  const WhereClause *where = excludingWhere(decl, valueOf);
  if (!where)
    return;
  auto report = c.sink.report(DiagId::WhereIsFalse, where->span, {decl.name, where->text});
  for (const Tunable &tunable : decl.tunables)
    if (!tunable.isBool)
      report.note("`" + tunable.local->name + "` is " + std::to_string(values.at(tunable.local)));
}

void bindTunables(BuildContext &c, Frame &frame, const std::map<std::string, int64_t> &overrides) {
  Frame *outer = std::exchange(c.frame, &frame);
  std::map<const Local *, int64_t> values;
  for (const Tunable &tunable : frame.decl->tunables) {
    int64_t value = tunable.defaultValue;
    if (frame.schedule)
      for (const auto &[local, scheduled] : frame.schedule->tunables)
        if (local == tunable.local)
          value = scheduled;
    if (auto found = overrides.find(tunable.local->name); found != overrides.end())
      value = found->second;
    values[tunable.local] = value;
    if (tunable.local->symbol)
      bindSymbolConstant(c, *tunable.local->symbol, value);
    Location loc = c.location(tunable.local->span);
    mlir::Value bound =
        tunable.isBool ? mlir::Value(c.make<arith::ConstantIntOp>(loc, value, 1)) : c.index(value);
    frame.locals[tunable.local->index] = Bound::of(bound);
  }
  requireConditions(c, *frame.decl, values);
  c.frame = outer;
}

void initOutputs(BuildContext &c) {
  const CallableDecl &decl = *c.frame->decl;
  for (size_t i = 0; i < decl.outputs.size() && i < decl.outputInits.size(); ++i) {
    if (!decl.outputInits[i])
      continue;
    const Bound &output = c.bound(*decl.outputs[i]);
    Location loc = c.here(*decl.outputInits[i]);
    storeInto(c, buildValue(c, *decl.outputInits[i]), output, wholeBox(c, output.value),
              AssignMode::Set, loc);
  }
}

std::vector<Stmt *> bodyStmts(BuildContext &c, const ptl::Block &body) {
  std::vector<Stmt *> stmts = body.stmts;
  if (body.value) {
    ReturnStmt &result = c.bodyResults.emplace_back();
    result.kind = StmtKind::Return;
    result.span = body.value->span;
    result.value = body.value;
    stmts.push_back(&result);
  }
  return stmts;
}

void buildKernelBody(BuildContext &c, const CallableDecl &decl) {
  bool isManual = decl.kind == DeclKind::ManualKernel;
  if (isManual && (!c.binding.chip || c.binding.chip->executable))
    c.fail(DiagId::BlockLevelNotOnTarget, decl.nameSpan, {decl.name, c.binding.machine});
  else if (!decl.isFor(c.binding.machine))
    c.fail(DiagId::NotForTarget, decl.nameSpan,
           {decl.name, llvm::join(decl.targets, ", "), c.binding.machine});
  else if (isManual)
    buildManual(c, decl);
  else
    buildBlock(c, *decl.body);
  orderTasks(c, *c.b.getInsertionBlock());
}

} // namespace ptl::ir
