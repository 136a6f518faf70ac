#include "compile/cost/symbolic_cost.h"

#include "frontend/base/printed.h"

#include <algorithm>

namespace ptl {

/// By schedules that hold always; those with `when` leave it open.
static std::optional<int64_t> tunableValue(const CheckedProgram &program,
                                           const ir::EntryBinding &binding,
                                           const Tunable &tunable) {
  if (auto found = binding.tunables.find(tunable.local->name); found != binding.tunables.end())
    return found->second;
  for (const auto &module : program.modules)
    for (const ScheduleDecl *schedule : module->schedules) {
      bool applies = schedule->target == binding.decl &&
                     (schedule->machine.empty() || schedule->machine == binding.machine);
      for (const auto &[local, value] : schedule->tunables)
        if (applies && local == tunable.local)
          // Whether the condition holds depends on lengths that are not known here.
          return schedule->when ? std::nullopt : std::optional<int64_t>(value);
    }
  return tunable.defaultValue;
}

DimLookup valuesOf(const CheckedProgram &program, const ir::EntryBinding &binding,
                   const std::vector<ExampleSize> &sizes) {
  std::map<std::string, int64_t> values;
  for (const Tunable &tunable : binding.decl->tunables)
    if (std::optional<int64_t> value = tunableValue(program, binding, tunable))
      values[tunable.local->name] = *value;
  for (const auto &[name, value] : binding.statics)
    values[name] = value;
  for (const ExampleSize &size : sizes)
    // Sizes of the call come last, since they win over what was bound.
    values[size.name] = size.value;
  return [values = std::move(values), dims = program.dims](SymbolId id) -> std::optional<int64_t> {
    auto found = values.find(dims->symbol(id).name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

/// Unknown where it is no range of numbers.
static Dim roundsOf(const LoopHead &head, DimContext &dims) {
  auto span = [&](const Expr *lo, const Expr *hi, const Expr *step) {
    Dim length = lo ? dims.sub(hi->dim, lo->dim) : hi->dim;
    return step ? dims.ceilDiv(length, step->dim) : length;
  };
  if (head.iterable->kind == ExprKind::Range) {
    auto *range = cast<RangeExpr>(head.iterable);
    return range->hi ? span(range->lo, range->hi, range->step) : Dim();
  }
  if (head.iterable->kind == ExprKind::Tiles) {
    auto *tiles = cast<TilesExpr>(head.iterable);
    return tiles->hi ? span(tiles->lo, tiles->hi, tiles->size) : Dim();
  }
  return {};
}

Formula roundsOf(const Stmt &stmt, DimContext &dims, const DimLookup &values) {
  std::vector<LoopHead> heads;
  if (stmt.kind == StmtKind::For)
    heads = {cast<ForStmt>(stmt).head};
  else if (stmt.kind == StmtKind::Parallel)
    heads = cast<ParallelStmt>(stmt).heads;
  Formula all;
  for (const LoopHead &head : heads) {
    Dim rounds = roundsOf(head, dims);
    std::optional<int64_t> value = rounds ? evaluate(rounds, values) : std::nullopt;
    if (!value)
      return {};
    if (rounds.isConstant(1))
      continue;
    std::string text = dims.toString(rounds);
    // A blank outside of parentheses stands beside an operator.
    bool isSum = text.find(' ') < text.find('(');
    if (heads.size() > 1 && isSum)
      text = "(" + text + ")";
    all.text += (all.text.empty() ? "" : "*") + text; // not multiplied out
    all.value = all.value.value_or(1) * *value;
  }
  if (!heads.empty() && !all.value)
    // All loops have one round.
    return {"1", 1};
  return all;
}

namespace {

/// A loop of the entry with those directly inside it.
struct LoopTime {
  const TimedLoop *loop;
  std::vector<LoopTime> inner;
};

} // namespace

static std::string number(double us) { return printed("%.3g", us); }

/// The formula of the rest of `us` beside the rounds of loops, and of these.
static std::string timeOnce(double us, const std::vector<LoopTime> &inner, double times);

/// A formula for one round of a loop that is entered `times` times and takes `us` in all. Subtracts
/// the time of its rounds from `rest`.
static std::string roundOf(const LoopTime &loop, double us, double times, double &rest) {
  double rounds = static_cast<double>(*loop.loop->rounds.value);
  double round = us / (times * rounds);
  // A pace that would take longer than all of it was another one.
  if (loop.loop->pace > 0 && loop.loop->pace < round)
    round = loop.loop->pace;
  rest -= round * rounds;
  return timeOnce(round, loop.inner, times * rounds);
}

static std::string timeOnce(double us, const std::vector<LoopTime> &inner, double times) {
  std::string loops;
  double known = 0;
  for (const LoopTime &each : inner)
    known += each.loop->us / times;
  for (const LoopTime &each : inner) {
    // Rounds that overlap with those of the loop around them take no longer than that.
    double part = each.loop->us * (known > us && known > 0 ? us / known : 1);
    loops += " + " + each.loop->rounds.text + " * (" + roundOf(each, part, times, us) + ")";
  }
  return number(std::max(us, 0.0)) + loops;
}

std::string timeFormula(double us, const std::vector<TimedLoop> &loops, int64_t blocks) {
  std::vector<LoopTime> outermost;
  for (const TimedLoop &loop : loops) { // outer before inner
    if (!loop.rounds.value || *loop.rounds.value <= 0 || loop.us <= 0)
      continue;
    std::vector<LoopTime> *among = &outermost;
    // Loops come in the order of the text, so only the last one can contain this one.
    while (!among->empty() && among->back().loop->span.begin <= loop.span.begin &&
           loop.span.end <= among->back().loop->span.end)
      among = &among->back().inner;
    among->push_back({&loop, {}});
  }
  if (outermost.size() != 1 || !outermost.front().loop->isGrid || blocks <= 0)
    return "";
  const TimedLoop &grid = *outermost.front().loop;
  // The points are dealt out to the blocks, so the slowest block has this many.
  int64_t turns = (*grid.rounds.value + blocks - 1) / blocks;
  double turn = grid.us / static_cast<double>(turns);
  if (grid.pace > 0 && grid.pace < turn)
    turn = grid.pace;
  std::string inTurn = timeOnce(turn, outermost.front().inner, static_cast<double>(turns));
  return number(us - turn * static_cast<double>(turns)) + " + cdiv(" + grid.rounds.text + ", " +
         std::to_string(blocks) + ") * (" + inTurn + ")";
}

} // namespace ptl
