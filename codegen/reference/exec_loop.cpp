#include "codegen/reference/exec_loop.h"

#include "codegen/reference/bind.h"
#include "codegen/reference/eval.h"
#include "codegen/reference/eval_range.h"

#include <algorithm>
#include <random>

namespace ptl::reference {

namespace {

/// Binds the variable of a loop, and the symbols of a tile variable, of which types in the body speak.
void bindLoopVar(RunState &run, const LoopHead &head, const Value &value) {
  if (head.range && value.isRange())
    bindRangeSymbols(run, *head.range, value.asRange());
  bindLocal(run, *head.var, value);
}

/// Calls `visit` with each value of a loop's variable; it returns false to end the loop.
void forEachOf(RunState &run, const LoopHead &head,
               const std::function<bool(const Value &)> &visit) {
  const Expr &over = *head.iterable;
  if (over.type->kind == TypeKind::List || over.kind == ExprKind::List) {
    Value list = eval(run, over);
    for (const Value &element : list.asParts())
      if (!visit(element))
        return;
    return;
  }
  if (over.kind == ExprKind::Tiles) {
    const auto &tiles = cast<TilesExpr>(over);
    int64_t lo = tiles.lo ? evalInt(run, *tiles.lo) : 0, hi = evalInt(run, *tiles.hi),
            size = evalInt(run, *tiles.size);
    if (size < 1)
      stop(RunStatus::Arithmetic, "the size of a tile is " + std::to_string(size), over.span);
    int64_t count = 0;
    if (lo >= hi)
      run.noteArm(&tiles, Arm::NoTile);
    for (int64_t at = lo; at < hi; at += size, ++count) {
      run.noteArm(&tiles, hi - at < size ? Arm::PartOfTile : Arm::WholeTile);
      // The last tile ends with the domain.
      if (!visit(Value::range({at, std::min(size, hi - at), 1, size, count})))
        return;
    }
    return;
  }
  // The range is evaluated once, before the first iteration.
  RangeValue range = evalRange(run, over);
  for (int64_t i = 0; i < range.length; ++i)
    if (!visit(Value::integer(range.start + i * range.step)))
      return;
}

/// Calls `visit` with `point` holding the values of all variables. Bounds of later variables may use earlier ones.
void forEachPoint(RunState &run, const ParallelStmt &stmt, std::vector<Value> &point,
                  const std::function<void()> &visit) {
  size_t head = point.size();
  if (head == stmt.heads.size())
    return visit();
  forEachOf(run, stmt.heads[head], [&](const Value &value) {
    bindLoopVar(run, stmt.heads[head], value);
    point.push_back(value);
    forEachPoint(run, stmt, point, visit);
    point.pop_back();
    return true;
  });
}

} // namespace

Flow execFor(RunState &run, const ForStmt &stmt) {
  Flow result = Flow::Next;
  forEachOf(run, stmt.head, [&](const Value &value) {
    bindLoopVar(run, stmt.head, value);
    Flow flow = exec(run, *stmt.body);
    if (flow == Flow::Return)
      result = flow;
    // `break` and `return` end the loop.
    return flow == Flow::Next || flow == Flow::Continue;
  });
  return result;
}

Flow execWhile(RunState &run, const WhileStmt &stmt) {
  while (evalBool(run, *stmt.condition)) {
    Flow flow = exec(run, *stmt.body);
    if (flow == Flow::Return)
      return flow;
    if (flow == Flow::Break)
      break;
  }
  return Flow::Next;
}

void execParallel(RunState &run, const ParallelStmt &stmt) {
  std::vector<Value> point;
  // Without a seed the points run in the order of the source.
  if (!run.options().shuffle) {
    forEachPoint(run, stmt, point, [&] { exec(run, *stmt.body); });
    return;
  }
  // All points are listed first, so that they can be shuffled as a whole.
  std::vector<std::vector<Value>> points;
  forEachPoint(run, stmt, point, [&] { points.push_back(point); });
  std::mt19937_64 generator(*run.options().shuffle);
  for (size_t i = points.size(); i > 1; --i) // Fisher and Yates; the same on every machine.
    std::swap(points[i - 1], points[generator() % i]);
  for (const std::vector<Value> &each : points) {
    // Each point binds its variables again, since another point ran in between.
    for (size_t i = 0; i < each.size(); ++i)
      bindLoopVar(run, stmt.heads[i], each[i]);
    exec(run, *stmt.body);
  }
}

} // namespace ptl::reference
