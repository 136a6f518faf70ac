// Loops. `parallel` runs in order, or in an order drawn from a seed: what it computes must not
// depend on it.
#include "codegen/reference/machine.h"

#include <algorithm>
#include <random>

namespace ptl::reference {

void Machine::bindLoopVar(const LoopHead &head, const Value &value) {
  // Types in the body speak of the symbols of a tile variable, so they are bound with it.
  if (head.range && value.isRange()) {
    auto bind = [&](Dim dim, int64_t number) {
      if (auto symbol = dim ? dim.symbol() : std::nullopt)
        bindSymbol(*symbol, number);
    };
    bind(head.range->start, value.asRange().start);
    bind(head.range->length, value.asRange().length);
    bind(head.range->count, value.asRange().count);
  }
  bindLocal(*head.var, value);
}

void Machine::forEachOf(const LoopHead &head, const std::function<bool(const Value &)> &visit) {
  const Expr &over = *head.iterable;
  if (over.type->kind == TypeKind::List || over.kind == ExprKind::List) {
    Value list = eval(over);
    for (const Value &element : list.asParts())
      if (!visit(element))
        return;
    return;
  }
  if (over.kind == ExprKind::Tiles) {
    const auto &tiles = cast<TilesExpr>(over);
    int64_t lo = tiles.lo ? evalInt(*tiles.lo) : 0, hi = evalInt(*tiles.hi),
            size = evalInt(*tiles.size);
    if (size < 1)
      stop(RunStatus::Arithmetic, "the size of a tile is " + std::to_string(size), over.span);
    int64_t count = 0;
    if (lo >= hi)
      noteArm(&tiles, Arm::NoTile);
    for (int64_t at = lo; at < hi; at += size, ++count) {
      noteArm(&tiles, hi - at < size ? Arm::PartOfTile : Arm::WholeTile);
      // The last tile ends with the domain.
      if (!visit(Value::range({at, std::min(size, hi - at), 1, size, count})))
        return;
    }
    return;
  }
  // The range is evaluated once, before the first iteration.
  RangeValue range = evalRange(over);
  for (int64_t i = 0; i < range.length; ++i)
    if (!visit(Value::integer(range.start + i * range.step)))
      return;
}

Flow Machine::execFor(const ForStmt &stmt) {
  Flow result = Flow::Next;
  forEachOf(stmt.head, [&](const Value &value) {
    bindLoopVar(stmt.head, value);
    Flow flow = exec(*stmt.body);
    if (flow == Flow::Return)
      result = flow;
    // `break` and `return` end the loop.
    return flow == Flow::Next || flow == Flow::Continue;
  });
  return result;
}

Flow Machine::execWhile(const WhileStmt &stmt) {
  while (evalBool(*stmt.condition)) {
    Flow flow = exec(*stmt.body);
    if (flow == Flow::Return)
      return flow;
    if (flow == Flow::Break)
      break;
  }
  return Flow::Next;
}

/// Bounds of later variables may use earlier ones.
void Machine::forEachPoint(const ParallelStmt &stmt, std::vector<Value> &point,
                           const std::function<void()> &visit) {
  size_t head = point.size();
  if (head == stmt.heads.size())
    return visit();
  forEachOf(stmt.heads[head], [&](const Value &value) {
    bindLoopVar(stmt.heads[head], value);
    point.push_back(value);
    forEachPoint(stmt, point, visit);
    point.pop_back();
    return true;
  });
}

void Machine::execParallel(const ParallelStmt &stmt) {
  std::vector<Value> point;
  // Without a seed the points run in the order of the source.
  if (!options_.shuffle) {
    forEachPoint(stmt, point, [&] { exec(*stmt.body); });
    return;
  }
  // All points are listed first, so that they can be shuffled as a whole.
  std::vector<std::vector<Value>> points;
  forEachPoint(stmt, point, [&] { points.push_back(point); });
  std::mt19937_64 generator(*options_.shuffle);
  for (size_t i = points.size(); i > 1; --i) // Fisher and Yates; the same on every machine.
    std::swap(points[i - 1], points[generator() % i]);
  for (const std::vector<Value> &each : points) {
    // Each point binds its variables again, since another point ran in between.
    for (size_t i = 0; i < each.size(); ++i)
      bindLoopVar(stmt.heads[i], each[i]);
    exec(*stmt.body);
  }
}

} // namespace ptl::reference
