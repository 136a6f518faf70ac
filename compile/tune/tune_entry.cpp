#include "compile/tune/tune_entry.h"

#include <algorithm>
#include <cstdlib>

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
    // One side may decide even if the other one is not known.
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

/// The schedule that the compiler takes, as ir/build chooses it: lengths that the program is not
/// compiled for are not known there, so a `when` about them does not hold.
static const ScheduleDecl *scheduleToday(const TuneQuestion &question) {
  DimLookup statics = [&](SymbolId symbol) -> std::optional<int64_t> {
    for (const DimParam &dim : question.decl.dims)
      if (auto given = question.wanted.find(dim.name);
          dim.symbol == symbol && given != question.wanted.end())
        return std::atoll(given->second.c_str());
    return std::nullopt;
  };
  LocalLookup none = [](const Local &) { return std::nullopt; };
  // A schedule for this machine wins over one for all.
  for (const std::string &machine : {question.options.chip->name, std::string()})
    for (const auto &module : question.program.modules)
      for (const ScheduleDecl *schedule : module->schedules)
        if (schedule->target == &question.decl && schedule->machine == machine &&
            (!schedule->when || conditionHolds(*schedule->when, statics, none).value_or(false)))
          return schedule;
  return nullptr;
}

EntryTuning::EntryTuning(TuneQuestion question) : question_(std::move(question)) {
  // The static lengths that nobody named are those of benches, or a default.
  for (const BoundEntry &bound :
       bindEntries(question_.program, question_.decl, question_.wanted, problem_))
    for (const auto &[name, value] : bound.binding.statics)
      question_.wanted.try_emplace(name, std::to_string(value));
  schedule_ = scheduleToday(question_);
  for (const Tunable &tunable : question_.decl.tunables) {
    const std::string &name = tunable.local->name;
    TuneAxis axis{name, tunable.domain, 0};
    if (auto given = question_.wanted.find(name); given != question_.wanted.end()) {
      // What the user has given is not searched.
      axis.values = {given->second == "true" ? 1 : std::atoll(given->second.c_str())};
      axes_.push_back(std::move(axis));
      tunables_.push_back(&tunable);
      continue;
    }
    // Without a declared domain there is nothing to choose from.
    if (axis.values.empty())
      continue;
    int64_t value = tunable.defaultValue;
    for (const auto &[local, scheduled] :
         schedule_ ? schedule_->tunables : std::vector<std::pair<Local *, int64_t>>())
      if (local == tunable.local)
        value = scheduled;
    axis.values.push_back(value);
    std::sort(axis.values.begin(), axis.values.end());
    axis.values.erase(std::unique(axis.values.begin(), axis.values.end()), axis.values.end());
    axis.start = static_cast<size_t>(
        std::lower_bound(axis.values.begin(), axis.values.end(), value) - axis.values.begin());
    axes_.push_back(std::move(axis));
    tunables_.push_back(&tunable);
  }
}

std::string EntryTuning::valueText(size_t axis, const TunePoint &point) const {
  int64_t value = axes_[axis].values[point[axis]];
  if (tunables_[axis]->isBool)
    return value ? "true" : "false";
  return std::to_string(value);
}

std::string EntryTuning::text(const TunePoint &point) const {
  std::string text;
  for (size_t i = 0; i < axes_.size(); ++i)
    text += (i ? ", " : "") + axes_[i].name + " = " + valueText(i, point);
  return text;
}

/// The first `where` over tunables that does not hold. What cannot be computed here excludes nothing.
const WhereClause *EntryTuning::excluding(const TunePoint &point) const {
  LocalLookup valueOf = [&](const Local &local) -> std::optional<int64_t> {
    for (size_t i = 0; i < axes_.size(); ++i)
      if (tunables_[i]->local == &local)
        return axes_[i].values[point[i]];
    for (const Tunable &tunable : question_.decl.tunables) {
      if (tunable.local != &local)
        continue;
      if (auto given = question_.wanted.find(local.name); given != question_.wanted.end())
        return given->second == "true" ? 1 : std::atoll(given->second.c_str());
      for (const auto &[set, value] :
           schedule_ ? schedule_->tunables : std::vector<std::pair<Local *, int64_t>>())
        if (set == &local)
          return value;
      return tunable.defaultValue;
    }
    return std::nullopt;
  };
  DimLookup dims = [&](SymbolId symbol) -> std::optional<int64_t> {
    for (const Tunable &tunable : question_.decl.tunables)
      if (tunable.local->symbol && *tunable.local->symbol == symbol)
        return valueOf(*tunable.local);
    return std::nullopt;
  };
  for (const WhereClause &where : question_.decl.wheres)
    if (where.onTunables && where.condition &&
        !conditionHolds(*where.condition, dims, valueOf).value_or(true))
      return &where;
  return nullptr;
}

TuneOutcome EntryTuning::evaluate(const TunePoint &point) {
  // The declaration itself excludes the point, so compiling it would be wasted.
  if (const WhereClause *where = excluding(point))
    return {std::nullopt, "`where " + where->text + "` excludes it"};
  Wanted wanted = question_.wanted;
  for (size_t i = 0; i < axes_.size(); ++i)
    wanted[axes_[i].name] = valueText(i, point);
  return compiled(wanted);
}

TuneOutcome EntryTuning::evaluateToday() { return compiled(question_.wanted); }

TuneOutcome EntryTuning::compiled(const Wanted &wanted) {
  std::vector<BoundEntry> entries =
      bindEntries(question_.program, question_.decl, wanted, problem_);
  if (entries.size() != 1)
    return {std::nullopt, problem_};
  DiagnosticSink quiet;
  CompilerOptions options = question_.options;
  // A trial reports nothing to anyone, so all that serves reports is off.
  options.triesHelps = false;
  options.reportsParts = false;
  options.keepFault = nullptr;
  options.dumpFolder.clear();
  options.keepsStages = false;
  CompileContext context(question_.program, question_.sources, std::move(options), quiet);
  ChipResult lowered = lowerEntry(context, entries.front());
  if (!lowered.program) {
    for (const Diagnostic &diagnostic : quiet.all())
      if (diagnostic.severity == Severity::Error)
        return {std::nullopt, diagnostic.message};
    return {std::nullopt, "it cannot be compiled"};
  }
  Cost cost = costOf({question_.program, question_.sources, entries.front(),
                      *question_.options.chip, question_.costs, question_.sizes},
                     *lowered.program);
  if (!cost.unknown.empty()) {
    unknown_ = cost.unknown;
    return {std::nullopt, cost.unknown};
  }
  lastCost_ = std::move(cost);
  return {lastCost_.us, ""};
}

} // namespace ptl
