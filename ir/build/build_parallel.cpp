// Grids: which variables share one, and `parallel` inside of it.
#include "ir/build/build_parallel.h"
#include "ir/build/build_loop.h"
#include "ir/build/build_schedule.h"
#include "ir/build/build_stmt.h"
#include "ir/build/carried.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

static bool usesSymbols(Dim dim, llvm::ArrayRef<const Local *> locals) {
  bool found = false;
  forEachSymbol(dim, [&](SymbolId symbol) {
    for (const Local *local : locals) {
      found |= local->symbol == symbol;
      if (const RangeInfo *range = local->type->range)
        for (Dim part : {range->start, range->count, range->length})
          found |= part.symbol() == symbol;
    }
  });
  return found;
}

/// Whether an expression reads one of the locals, or a symbol of theirs.
static bool uses(const Expr *expr, llvm::ArrayRef<const Local *> locals) {
  if (!expr)
    return false;
  auto any = [&](const auto &list) {
    return llvm::any_of(list, [&](const Expr *e) { return uses(e, locals); });
  };
  switch (expr->kind) {
  case ExprKind::LocalRef:
    return llvm::is_contained(locals, cast<LocalRefExpr>(expr)->local);
  case ExprKind::Op: {
    const auto &op = cast<OpExpr>(*expr);
    // Lengths of an operation, such as that of `zeros`, are no operands, and only mention symbols.
    return any(op.args) || any(op.rest) ||
           llvm::any_of(op.shape, [&](Dim dim) { return usesSymbols(dim, locals); });
  }
  case ExprKind::Convert:
    return uses(cast<ConvertExpr>(expr)->arg, locals);
  case ExprKind::Field:
    return uses(cast<FieldExpr>(expr)->base, locals);
  case ExprKind::Range: {
    const auto &range = cast<RangeExpr>(*expr);
    return uses(range.lo, locals) || uses(range.hi, locals) || uses(range.step, locals);
  }
  case ExprKind::Tiles: {
    const auto &tiles = cast<TilesExpr>(*expr);
    return uses(tiles.lo, locals) || uses(tiles.hi, locals) || uses(tiles.size, locals);
  }
  case ExprKind::Index: {
    const auto &indexing = cast<IndexExpr>(*expr);
    auto isUsed = [&](const IndexItem &item) {
      const RangeInfo *range = item.range;
      return uses(item.value, locals) ||
             (range && (usesSymbols(range->start, locals) || usesSymbols(range->length, locals) ||
                        usesSymbols(range->step, locals)));
    };
    return uses(indexing.base, locals) || uses(indexing.outside, locals) ||
           llvm::any_of(indexing.items, isUsed);
  }
  case ExprKind::Const:
    return false;
  default:
    return true; // What is not understood is taken to depend: the grid is then nested, never wrong.
  }
}

bool dependsOnHeads(const ParallelStmt &stmt, size_t from, size_t to) {
  llvm::SmallVector<const Local *> earlier;
  for (size_t i = from; i < to; ++i)
    earlier.push_back(stmt.heads[i].var);
  const Expr *over = stmt.heads[to].iterable;
  auto depends = [&](const Expr *part) {
    if (!part)
      return false;
    // A known length says by its symbols what it depends on; only without one the expression is
    // searched.
    return part->dim.isKnown() ? usesSymbols(part->dim, earlier) : uses(part, earlier);
  };
  if (over->kind == ExprKind::Tiles) {
    const auto &tiles = cast<TilesExpr>(*over);
    return depends(tiles.lo) || depends(tiles.hi) || depends(tiles.size);
  }
  if (over->kind == ExprKind::Range) {
    const auto &range = cast<RangeExpr>(*over);
    return depends(range.lo) || depends(range.hi) || depends(range.step);
  }
  return depends(over);
}

/// A `parallel` beside other statements of an iteration: that iteration runs its points in order.
static void buildInnerParallel(BuildContext &c, const ParallelStmt &stmt, size_t from) {
  if (from == stmt.heads.size())
    return buildBlock(c, *stmt.body);
  Location loc = c.location(stmt.span);
  const LoopHead &head = stmt.heads[from];
  LoopBounds bounds = loopBounds(c, head);
  // No jump leaves a `parallel`, so jumps of the loop around it must not guard its statements.
  std::optional<ExitFlags> outer = std::exchange(c.exits, std::nullopt);
  auto body = [&](OpBuilder &, Location, mlir::Value position, ValueRange) {
    bindLoopVar(c, head, bounds, position);
    buildInnerParallel(c, stmt, from + 1);
    c.make<scf::YieldOp>(loc);
  };
  auto loop =
      c.b.create<scf::ForOp>(loc, bounds.lower, bounds.upper, bounds.step, ValueRange(), body);
  nameArgument(cast<BlockArgument>(loop.getInductionVar()), head.var->name);
  // The variable ends here; its symbols must not be found by what comes behind the loop.
  eraseSymbols(*c.frame, head);
  c.exits = outer;
}

void buildParallel(BuildContext &c, const ParallelStmt &stmt, size_t from) {
  // A grid cannot stand within another one: its points already run on one core.
  if (c.inGrid && from == 0)
    return buildInnerParallel(c, stmt, 0);
  Location loc = c.location(stmt.span);
  llvm::SmallVector<mlir::Value> lower, upper, steps;
  std::vector<LoopBounds> bounds;
  size_t to = from;
  for (; to < stmt.heads.size(); ++to) {
    // A grid has all its bounds before its first point, so a bound that uses a variable begins a
    // grid of its own.
    if (to > from && dependsOnHeads(stmt, from, to))
      break;
    bounds.push_back(loopBounds(c, stmt.heads[to]));
    lower.push_back(bounds.back().lower);
    upper.push_back(bounds.back().upper);
    steps.push_back(bounds.back().step);
  }
  auto grid = c.make<ParallelOp>(loc, lower, upper, steps);
  scheduleGrid(c, grid);
  OpBuilder::InsertionGuard guard(c.b);
  llvm::SmallVector<mlir::Type> types(lower.size(), c.b.getIndexType());
  llvm::SmallVector<Location> locs(lower.size(), loc);
  mlir::Block *body = c.b.createBlock(&grid.getBody(), {}, types, locs);
  for (size_t i = from; i < to; ++i) {
    BlockArgument position = body->getArgument(static_cast<unsigned>(i - from));
    nameArgument(position, stmt.heads[i].var->name);
    bindLoopVar(c, stmt.heads[i], bounds[i - from], position);
  }
  // The rest of the heads becomes a grid within this one, which is the only statement of its
  // points.
  bool wasInGrid = std::exchange(c.inGrid, true);
  if (to < stmt.heads.size())
    buildParallel(c, stmt, to);
  else
    buildBlock(c, *stmt.body);
  c.inGrid = wasInGrid;
  c.make<YieldOp>(loc);
  for (size_t i = from; i < to; ++i)
    eraseSymbols(*c.frame, stmt.heads[i]);
}

} // namespace ptl::ir
