// Grids: which variables share one, and `parallel` inside of it.
#include "ir/build/build_parallel.h"
#include "frontend/sema/walk.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_loop.h"
#include "ir/build/build_schedule.h"
#include "ir/build/build_stmt.h"
#include "ir/build/carried.h"
#include "machines/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

namespace {
/// A head and what it goes along.
struct BoundHead {
  size_t head;
  LoopBounds bounds;
};
/// An axis of a grid, whose positions are those of `own`.
struct GridAxis {
  BoundHead own;
  std::optional<BoundHead> whole = {}; ///< the head whose tiles this one cuts again
};
} // namespace

/// Whether a head cuts the tiles of another one, which begin at 0, into whole parts. These are then tiles of what
/// that one cuts, and the tile around each follows from its position.
static bool cutsAgain(BuildContext &c, const LoopHead &outer, const LoopHead &inner) {
  const auto *whole = dyn_cast<TilesExpr>(outer.iterable),
             *parts = dyn_cast<TilesExpr>(inner.iterable);
  if (!whole || !parts || !whole->level.empty() || !outer.range || !whole->lo || !parts->lo ||
      !whole->lo->dim.isConstant(0))
    return false;
  for (const Expr *part : {whole->size, parts->size, parts->lo, parts->hi})
    if (!part->dim.isKnown())
      return false;
  std::optional<int64_t> size = constantDim(c, whole->size->dim),
                         part = constantDim(c, parts->size->dim);
  return size && part && *part > 0 && *size % *part == 0 && parts->lo->dim == outer.range->start &&
         parts->hi->dim == c.dims.add(outer.range->start, outer.range->length);
}

/// Whether a block reads a variable.
static bool reads(const ptl::Block &block, const Local *local) {
  bool found = false;
  auto look = [&](const Expr *part) {
    forEachExpr(part, [&](const Expr *expr) {
      const auto *ref = dyn_cast<LocalRefExpr>(expr);
      found |= ref && ref->local == local;
    });
  };
  look(block.value);
  for (const Stmt *stmt : block.stmts)
    forEachPart(*stmt, look, [&](const ptl::Block *inner) { found |= reads(*inner, local); });
  return found;
}

/// The axis whose tiles a head cuts again, of which nothing else is asked; null if it has to begin a grid of its own. An axis between them keeps
/// the order that it gives to the points, unless it is cut again, too: as blocks of blocks there would be few points.
static GridAxis *axisCutBy(BuildContext &c, const ParallelStmt &stmt, std::vector<GridAxis> &axes,
                           size_t head) {
  auto isCutLater = [&](const GridAxis &axis) {
    for (size_t later = head + 1; later < stmt.heads.size(); ++later)
      if (cutsAgain(c, stmt.heads[axis.own.head], stmt.heads[later]))
        return true;
    return axis.whole.has_value();
  };
  for (size_t i = axes.size(); i-- > 0;) {
    const LoopHead &outer = stmt.heads[axes[i].own.head];
    if (!axes[i].whole && cutsAgain(c, outer, stmt.heads[head]))
      return reads(*stmt.body, outer.var) ? nullptr : &axes[i];
    if (!isCutLater(axes[i]))
      return nullptr;
  }
  return nullptr;
}

/// The axes of a grid of the heads from `from` on. A grid has all its bounds before its first point, so a bound that
/// uses a variable begins a grid of its own, whose points a core goes through one after the other. On chips,
/// where cores would lack points, tiles of tiles are an axis.
static std::vector<GridAxis> gridAxes(BuildContext &c, const ParallelStmt &stmt, size_t from) {
  bool joins = c.binding.chip && !c.binding.chip->executable;
  std::vector<GridAxis> axes;
  for (size_t head = from; head < stmt.heads.size(); ++head) {
    if (head == from || !dependsOnHeads(stmt, from, head)) {
      axes.push_back({{head, loopBounds(c, stmt.heads[head])}});
      continue;
    }
    GridAxis *axis = joins ? axisCutBy(c, stmt, axes, head) : nullptr;
    if (!axis)
      break;
    axis->whole = axis->own;
    axis->own.head = head;
    axis->own.bounds.step = axis->own.bounds.tileSize =
        buildValue(c, *cast<TilesExpr>(*stmt.heads[head].iterable).size);
  }
  return axes;
}

/// Binds the variable of an axis, and the one whose tiles it cuts again.
static void bindAxis(BuildContext &c, const ParallelStmt &stmt, const GridAxis &axis,
                     BlockArgument position) {
  const LoopHead &head = stmt.heads[axis.own.head];
  nameArgument(position, head.var->name);
  LoopBounds bounds = axis.own.bounds;
  if (axis.whole) {
    Location loc = c.here(*head.iterable);
    const LoopBounds &whole = axis.whole->bounds;
    mlir::Value number = c.b.createOrFold<arith::FloorDivSIOp>(loc, position, whole.tileSize);
    // Numbers of tiles count from here.
    bounds.lower = c.b.createOrFold<arith::MulIOp>(loc, number, whole.tileSize);
    bindLoopVar(c, stmt.heads[axis.whole->head], whole, bounds.lower);
  }
  bindLoopVar(c, head, bounds, position);
}

void buildParallel(BuildContext &c, const ParallelStmt &stmt, size_t from) {
  // A grid cannot stand within another one: its points already run on one core.
  if (c.inGrid && from == 0)
    return buildInnerParallel(c, stmt, 0);
  Location loc = c.location(stmt.span);
  llvm::SmallVector<mlir::Value> lower, upper, steps;
  std::vector<GridAxis> axes = gridAxes(c, stmt, from);
  size_t to = from;
  for (const GridAxis &axis : axes) {
    lower.push_back(axis.own.bounds.lower);
    upper.push_back(axis.own.bounds.upper);
    steps.push_back(axis.own.bounds.step);
    to = std::max(to, axis.own.head + 1);
  }
  auto grid = c.make<ParallelOp>(loc, lower, upper, steps);
  scheduleGrid(c, grid);
  OpBuilder::InsertionGuard guard(c.b);
  llvm::SmallVector<mlir::Type> types(lower.size(), c.b.getIndexType());
  llvm::SmallVector<Location> locs(lower.size(), loc);
  mlir::Block *body = c.b.createBlock(&grid.getBody(), {}, types, locs);
  for (size_t i = 0; i < axes.size(); ++i)
    bindAxis(c, stmt, axes[i], body->getArgument(static_cast<unsigned>(i)));
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
