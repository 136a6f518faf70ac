// Loops: over positions, over tiles, over lists; static ones; grids.
#include "frontend/sema/limits.h"
#include "ir/build/builder.h"
#include "ir/dialect/schedule_attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::ir {

Builder::LoopBounds Builder::loopBounds(const LoopHead &head) {
  const Expr &over = *head.iterable;
  LoopBounds bounds;
  if (over.kind == ExprKind::Tiles) {
    const auto &tiles = static_cast<const TilesExpr &>(over);
    bounds.lower = tiles.lo ? buildValue(*tiles.lo) : index(0);
    bounds.upper = buildValue(*tiles.hi);
    bounds.tileSize = buildValue(*tiles.size);
    bounds.step = bounds.tileSize;
    return bounds;
  }
  if (over.kind == ExprKind::Range) {
    const auto &range = static_cast<const RangeExpr &>(over);
    bounds.lower = buildValue(*range.lo);
    bounds.upper = buildValue(*range.hi);
    bounds.step = range.step ? buildValue(*range.step) : index(1);
    return bounds;
  }
  // A value of range type: positions start, start + step …
  Bound range = buildExpr(over);
  Location loc = here(over);
  mlir::Value span = builder_.createOrFold<arith::MulIOp>(loc, range.length, range.step);
  bounds.lower = range.start;
  bounds.upper = builder_.createOrFold<arith::AddIOp>(loc, range.start, span);
  bounds.step = range.step;
  return bounds;
}

/// Binds the loop's variable and the symbols of its range.
void Builder::bindLoopVar(const LoopHead &head, const LoopBounds &bounds, mlir::Value position) {
  Location loc = here(*head.iterable);
  if (!bounds.tileSize)
    return bindLocal(*head.var, Bound::of(position));
  const RangeInfo &info = *head.range;
  Bound range;
  range.kind = Bound::Kind::Range;
  range.start = position;
  range.step = index(1);
  range.size = bounds.tileSize;
  mlir::Value offset = builder_.createOrFold<arith::SubIOp>(loc, position, bounds.lower);
  range.count = builder_.createOrFold<arith::FloorDivSIOp>(loc, offset, bounds.tileSize);
  if (auto symbol = info.start.symbol())
    bindSymbol(*symbol, position);
  if (auto symbol = info.count.symbol())
    bindSymbol(*symbol, range.count);
  if (auto symbol = info.length.symbol(); symbol && !frame_->roots.count(*symbol)) {
    mlir::Value rest = builder_.createOrFold<arith::SubIOp>(loc, bounds.upper, position);
    bindSymbol(*symbol, builder_.createOrFold<arith::MinSIOp>(loc, rest, bounds.tileSize));
  }
  range.length = emitDim(info.length);
  frame_->locals[head.var->index] = range;
}

/// Forgets the symbols of a loop: in its next use they get new values and names.
void Builder::eraseSymbols(Frame &frame, const LoopHead &head) {
  if (!head.range) {
    if (head.var->symbol)
      frame.roots.erase(*head.var->symbol);
    return;
  }
  for (Dim dim : {head.range->start, head.range->count, head.range->length})
    if (auto symbol = dim.symbol())
      frame.roots.erase(*symbol);
}

/// Later stages call a loop's variable, and what the loop carries, by these names.
static void nameArgument(BlockArgument argument, llvm::StringRef name) {
  if (!name.empty())
    argument.setLoc(NameLoc::get(StringAttr::get(argument.getContext(), name), argument.getLoc()));
}

/// A slot has the name of the local whose value it is; parts of tuples and flags have none.
void Builder::nameArguments(const Slots &slots, mlir::Block::BlockArgListType arguments) const {
  for (auto [slot, argument] : llvm::zip(slots, arguments))
    for (const Local *local : frame_->decl->locals)
      if (&frame_->locals[local->index].value == slot)
        nameArgument(argument, local->name);
}

/// Sets the loop's own modifiers, or those of the schedule instead. On chips they are for loops of
/// kernels: an `unroll` elsewhere is reported at its place. A `fn` may be called anywhere.
void Builder::setModifiers(Operation *loop, const LoopModifiers &modifiers) {
  if (binding_.chip && !loop->getParentOfType<ParallelOp>()) {
    frame_->whyNot[modifiers.label] = "the loop is no part of a kernel: it hands out what is in it";
    return;
  }
  const Expr *depth = modifiers.pipelineExpr; // a tunable gives it
  std::optional<int64_t> given = depth && depth->dim ? constantDim(depth->dim) : std::nullopt;
  int64_t pipeline = given.value_or(modifiers.pipeline);
  std::optional<int64_t> unroll;
  if (modifiers.unroll)
    unroll = modifiers.unrollFactor;
  Span pipelineAt = kNoSpan, unrollAt = modifiers.unrollSpan;
  auto said = [&](const std::vector<ScheduleModifier> &all, auto &number, Span &at) {
    for (const ScheduleModifier &each : all)
      if (each.label == modifiers.label) {
        number = each.number;
        at = each.span;
        frame_->taken.insert(each.span.begin);
      }
  };
  if (frame_->schedule) {
    said(frame_->schedule->pipelines, pipeline, pipelineAt);
    said(frame_->schedule->unrolls, unroll, unrollAt);
  }
  if (pipeline > kMostPipelineDepth) {
    fail(DiagId::CountTooLarge, depth ? depth->span : pipelineAt,
         {"the depth of a pipeline", std::to_string(kMostPipelineDepth), std::to_string(pipeline)});
    return;
  }
  OpBuilder b(loop);
  if (pipeline > 1)
    loop->setAttr("ptl.pipeline", b.getI64IntegerAttr(pipeline));
  if (!unroll)
    return;
  loop->setAttr("ptl.unroll", b.getI64IntegerAttr(*unroll));
  if (binding_.chip)
    loop->setAttr(kUnrollPlaceAttribute, LocationAttr(location(unrollAt)));
}

void Builder::buildFor(const ForStmt &stmt) {
  if (stmt.isStatic || stmt.head.iterable->kind == ExprKind::List)
    return buildStaticFor(stmt);
  if (mayExit(*stmt.body) || mayReturn(stmt))
    return buildExitingFor(stmt);
  Location loc = location(stmt.span);
  LoopBounds bounds = loopBounds(stmt.head);
  std::optional<ExitFlags> outer = std::exchange(exits_, std::nullopt);
  Slots slots = assignedSlots({stmt.body});
  llvm::SmallVector<mlir::Value> init = slotValues(slots);
  llvm::SmallVector<mlir::Type> types(ValueRange(init).getTypes());
  auto body = [&](OpBuilder &, Location, mlir::Value position, ValueRange args) {
    setSlots(slots, args);
    bindLoopVar(stmt.head, bounds, position);
    buildBlock(*stmt.body);
    make<scf::YieldOp>(loc, slotValuesAs(slots, types, loc));
  };
  auto loop = builder_.create<scf::ForOp>(loc, bounds.lower, bounds.upper, bounds.step, init, body);
  setModifiers(loop, stmt.modifiers);
  nameArgument(cast<BlockArgument>(loop.getInductionVar()), stmt.head.var->name);
  nameArguments(slots, loop.getRegionIterArgs());
  setSlots(slots, loop.getResults());
  eraseSymbols(*frame_, stmt.head);
  exits_ = outer;
}

/// A loop with `break` or `continue` runs as `scf.while` over the position and the flags.
void Builder::buildExitingFor(const ForStmt &stmt) {
  Location loc = location(stmt.span);
  frame_->whyNot[stmt.modifiers.label] = "the loop may be left early";
  LoopBounds bounds = loopBounds(stmt.head);
  std::optional<ExitFlags> outer = exits_;
  mlir::Value no = make<arith::ConstantIntOp>(loc, 0, 1);
  exits_ = ExitFlags{no, no};
  mlir::Value position = bounds.lower;
  Slots slots = assignedSlots({stmt.body});
  slots.push_back(&position);
  llvm::SmallVector<mlir::Value> init = slotValues(slots);
  llvm::SmallVector<mlir::Type> types(ValueRange(init).getTypes());
  auto before = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    mlir::Value more = make<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, position, bounds.upper);
    mlir::Value running =
        make<arith::XOrIOp>(loc, exits_->broke, make<arith::ConstantIntOp>(loc, 1, 1));
    mlir::Value go = make<arith::AndIOp>(loc, more, running);
    make<scf::ConditionOp>(loc, go, args);
  };
  auto after = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    exits_->continued = make<arith::ConstantIntOp>(loc, 0, 1);
    bindLoopVar(stmt.head, bounds, position);
    buildBlock(*stmt.body);
    position = make<arith::AddIOp>(loc, position, bounds.step);
    make<scf::YieldOp>(loc, slotValuesAs(slots, types, loc));
  };
  auto loop = builder_.create<scf::WhileOp>(loc, types, init, before, after);
  nameArguments(slots, loop.getBeforeArguments());
  nameArguments(slots, loop.getAfterArguments());
  setSlots(slots, loop.getResults());
  eraseSymbols(*frame_, stmt.head);
  exits_ = outer;
  leaveOuterLoop(loc);
}

/// How often a loop with constant bounds runs. They may be as far apart as numbers can be.
static int64_t roundsOf(int64_t lower, int64_t upper, int64_t step) {
  if (lower >= upper || step < 1)
    return 0;
  uint64_t distance = static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower);
  uint64_t rounds = (distance - 1) / static_cast<uint64_t>(step) + 1;
  return static_cast<int64_t>(std::min<uint64_t>(rounds, std::numeric_limits<int64_t>::max()));
}

/// One round of a loop that is written out, unless one before has left the loop.
void Builder::buildRound(const ForStmt &stmt, llvm::function_ref<void()> bind) {
  auto build = [&] {
    bind();
    buildBlock(*stmt.body);
    eraseSymbols(*frame_, stmt.head);
  };
  if (!mayExit(*stmt.body))
    return build();
  Location loc = location(stmt.span);
  exits_->continued = make<arith::ConstantIntOp>(loc, 0, 1);
  if (std::optional<bool> left = constantCondition(exits_->broke)) {
    if (!*left)
      build();
    return;
  }
  buildUnlessExited(*stmt.body, loc, build);
}

void Builder::buildStaticFor(const ForStmt &stmt) {
  // What leaves it, or a round of it, does not leave the loop around it.
  llvm::SaveAndRestore<std::optional<ExitFlags>> outer(exits_);
  if (mayExit(*stmt.body)) {
    mlir::Value no = make<arith::ConstantIntOp>(location(stmt.span), 0, 1);
    exits_ = ExitFlags{no, no};
  }
  frame_->whyNot[stmt.modifiers.label] = "the loop is run when compiling";
  if (mayReturn(stmt)) {
    fail(DiagId::ReturnInStaticLoop, stmt.span, {frame_->decl->name, binding_.machine});
    return;
  }
  if (stmt.head.iterable->kind == ExprKind::List) {
    for (const Expr *element : static_cast<const ListExpr &>(*stmt.head.iterable).elements) {
      if (isTooLarge(stmt.span, "the loop over `" + stmt.head.var->name + "`"))
        return;
      buildRound(stmt, [&] { bindLocal(*stmt.head.var, buildExpr(*element)); });
    }
    return;
  }
  LoopBounds bounds = loopBounds(stmt.head);
  IntegerAttr lower, upper, step;
  if (!matchPattern(bounds.lower, m_Constant(&lower)) ||
      !matchPattern(bounds.upper, m_Constant(&upper)) ||
      !matchPattern(bounds.step, m_Constant(&step))) {
    fail(DiagId::StaticBoundNotKnown, stmt.head.iterable->span, {stmt.head.var->name});
    return;
  }
  int64_t rounds = roundsOf(lower.getInt(), upper.getInt(), step.getInt());
  std::string what =
      "`static for " + stmt.head.var->name + "` of " + std::to_string(rounds) + " rounds";
  if (static_cast<size_t>(rounds) > mostBuilt_)
    built_ = mostBuilt_ + 1; // empty rounds take time too
  for (int64_t round = 0; round < rounds; ++round) {
    if (isTooLarge(stmt.span, what))
      return;
    int64_t i = lower.getInt() + round * step.getInt();
    buildRound(stmt, [&] { bindLoopVar(stmt.head, bounds, index(i)); });
  }
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
    return llvm::is_contained(locals, static_cast<const LocalRefExpr *>(expr)->local);
  case ExprKind::Op:
    return any(static_cast<const OpExpr *>(expr)->args);
  case ExprKind::Convert:
    return uses(static_cast<const ConvertExpr *>(expr)->arg, locals);
  case ExprKind::Field:
    return uses(static_cast<const FieldExpr *>(expr)->base, locals);
  case ExprKind::Range: {
    const auto &range = static_cast<const RangeExpr &>(*expr);
    return uses(range.lo, locals) || uses(range.hi, locals) || uses(range.step, locals);
  }
  case ExprKind::Tiles: {
    const auto &tiles = static_cast<const TilesExpr &>(*expr);
    return uses(tiles.lo, locals) || uses(tiles.hi, locals) || uses(tiles.size, locals);
  }
  case ExprKind::Index: {
    const auto &indexing = static_cast<const IndexExpr &>(*expr);
    return uses(indexing.base, locals) ||
           llvm::any_of(indexing.items, [&](const IndexItem &i) { return uses(i.value, locals); });
  }
  case ExprKind::Const:
    return false;
  default:
    return true; // What is not understood is taken to depend: the grid is then nested, never wrong.
  }
}

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

bool Builder::dependsOnHeads(const ParallelStmt &stmt, size_t from, size_t to) {
  llvm::SmallVector<const Local *> earlier;
  for (size_t i = from; i < to; ++i)
    earlier.push_back(stmt.heads[i].var);
  const Expr *over = stmt.heads[to].iterable;
  auto depends = [&](const Expr *part) {
    if (!part)
      return false;
    return part->dim.isKnown() ? usesSymbols(part->dim, earlier) : uses(part, earlier);
  };
  if (over->kind == ExprKind::Tiles) {
    const auto &tiles = static_cast<const TilesExpr &>(*over);
    return depends(tiles.lo) || depends(tiles.hi) || depends(tiles.size);
  }
  if (over->kind == ExprKind::Range) {
    const auto &range = static_cast<const RangeExpr &>(*over);
    return depends(range.lo) || depends(range.hi) || depends(range.step);
  }
  return depends(over);
}

/// A `parallel` beside other statements of an iteration: that iteration runs its points in order.
void Builder::buildInnerParallel(const ParallelStmt &stmt, size_t from) {
  if (from == stmt.heads.size())
    return buildBlock(*stmt.body);
  Location loc = location(stmt.span);
  const LoopHead &head = stmt.heads[from];
  LoopBounds bounds = loopBounds(head);
  std::optional<ExitFlags> outer = std::exchange(exits_, std::nullopt);
  auto body = [&](OpBuilder &, Location, mlir::Value position, ValueRange) {
    bindLoopVar(head, bounds, position);
    buildInnerParallel(stmt, from + 1);
    make<scf::YieldOp>(loc);
  };
  auto loop =
      builder_.create<scf::ForOp>(loc, bounds.lower, bounds.upper, bounds.step, ValueRange(), body);
  nameArgument(cast<BlockArgument>(loop.getInductionVar()), head.var->name);
  eraseSymbols(*frame_, head);
  exits_ = outer;
}

/// Variables whose bounds do not depend on earlier ones share one grid; a dependent one starts a
/// nested grid.
void Builder::buildParallel(const ParallelStmt &stmt, size_t from) {
  if (inGrid_ && from == 0)
    return buildInnerParallel(stmt);
  Location loc = location(stmt.span);
  llvm::SmallVector<mlir::Value> lower, upper, steps;
  std::vector<LoopBounds> bounds;
  size_t to = from;
  for (; to < stmt.heads.size(); ++to) {
    if (to > from && dependsOnHeads(stmt, from, to))
      break;
    bounds.push_back(loopBounds(stmt.heads[to]));
    lower.push_back(bounds.back().lower);
    upper.push_back(bounds.back().upper);
    steps.push_back(bounds.back().step);
  }
  auto grid = make<ParallelOp>(loc, lower, upper, steps);
  scheduleGrid(grid);
  OpBuilder::InsertionGuard guard(builder_);
  llvm::SmallVector<mlir::Type> types(lower.size(), builder_.getIndexType());
  llvm::SmallVector<Location> locs(lower.size(), loc);
  mlir::Block *body = builder_.createBlock(&grid.getBody(), {}, types, locs);
  for (size_t i = from; i < to; ++i) {
    BlockArgument position = body->getArgument(static_cast<unsigned>(i - from));
    nameArgument(position, stmt.heads[i].var->name);
    bindLoopVar(stmt.heads[i], bounds[i - from], position);
  }
  bool wasInGrid = std::exchange(inGrid_, true);
  if (to < stmt.heads.size())
    buildParallel(stmt, to);
  else
    buildBlock(*stmt.body);
  inGrid_ = wasInGrid;
  make<YieldOp>(loc);
  for (size_t i = from; i < to; ++i)
    eraseSymbols(*frame_, stmt.heads[i]);
}

} // namespace ptl::ir
