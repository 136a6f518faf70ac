// Loops.
#include "ir/build/build_loop.h"
#include "frontend/sema/limits.h"
#include "ir/build/build_assign.h"
#include "ir/build/build_branch.h"
#include "ir/build/build_check.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_exit.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_stmt.h"
#include "ir/build/carried.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/tile_length.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::ir {

/// A loop whose step is not positive would never end.
static void checkStep(BuildContext &c, mlir::Value step, const char *message, Location loc) {
  if (matchPattern(step, m_Constant()))
    return;
  emitCheck(c, c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, step, c.index(1)),
            "arithmetic", message, {step}, loc);
}

LoopBounds loopBounds(BuildContext &c, const LoopHead &head) {
  const Expr &over = *head.iterable;
  LoopBounds bounds;
  if (over.kind == ExprKind::Tiles) {
    const auto &tiles = cast<TilesExpr>(over);
    bounds.lower = tiles.lo ? buildValue(c, *tiles.lo) : c.index(0);
    bounds.upper = buildValue(c, *tiles.hi);
    bounds.tileSize = buildValue(c, *tiles.size);
    bounds.step = bounds.tileSize;
    checkStep(c, bounds.step, "the size of a tile is {0}", c.here(over));
    return bounds;
  }
  if (over.kind == ExprKind::Range) {
    const auto &range = cast<RangeExpr>(over);
    bounds.lower = buildValue(c, *range.lo);
    bounds.upper = buildValue(c, *range.hi);
    bounds.step = range.step ? buildValue(c, *range.step) : c.index(1);
    checkStep(c, bounds.step, "the step of a range is {0}", c.here(over));
    return bounds;
  }
  // A value of range type: positions start, start + step …
  // The end is start + length * step, which is exclusive for any step.
  Bound range = buildExpr(c, over);
  Location loc = c.here(over);
  mlir::Value span = c.b.createOrFold<arith::MulIOp>(loc, range.length, range.step);
  bounds.lower = range.start;
  bounds.upper = c.b.createOrFold<arith::AddIOp>(loc, range.start, span);
  bounds.step = range.step;
  return bounds;
}

void bindLoopVar(BuildContext &c, const LoopHead &head, const LoopBounds &bounds,
                 mlir::Value position) {
  Location loc = c.here(*head.iterable);
  // A loop over positions binds the position itself.
  if (!bounds.tileSize)
    return bindLocal(c, *head.var, Bound::of(position));
  const RangeInfo &info = *head.range;
  Bound range;
  range.kind = Bound::Kind::Range;
  range.start = position;
  range.step = c.index(1);
  range.size = bounds.tileSize;
  // The number of the tile counts from the begin of the loop.
  mlir::Value offset = c.b.createOrFold<arith::SubIOp>(loc, position, bounds.lower);
  range.count = c.b.createOrFold<arith::FloorDivSIOp>(loc, offset, bounds.tileSize);
  if (auto symbol = info.start.symbol())
    bindSymbol(c, *symbol, position);
  if (auto symbol = info.count.symbol())
    bindSymbol(c, *symbol, range.count);
  // Only a length that is a symbol of its own needs the minimum; others follow from what is known.
  if (auto symbol = info.length.symbol(); symbol && !c.frame->roots.count(*symbol)) {
    bindSymbol(c, *symbol,
               tileLength(c.b, loc, position, bounds.lower, bounds.upper, bounds.tileSize));
  }
  // Where a `fn` names the length, its type does not say that the tile bounds it.
  std::optional<SymbolId> named = rootDim(c, info.length).symbol();
  std::optional<int64_t> most = constantDim(c, info.capacity);
  if (named && most)
    c.capacities[*named] = *most;
  range.length = emitDim(c, info.length);
  c.frame->locals[head.var->index] = range;
}

void eraseSymbols(Frame &frame, const LoopHead &head) {
  if (!head.range) {
    if (head.var->symbol)
      frame.roots.erase(*head.var->symbol);
    return;
  }
  // The symbols only have values inside of the loop.
  for (Dim dim : {head.range->start, head.range->count, head.range->length})
    if (auto symbol = dim.symbol())
      frame.roots.erase(*symbol);
}

/// Sets the loop's own modifiers, or those of the schedule instead. On chips they are for loops of
/// kernels: an `unroll` elsewhere is reported at its place. A `fn` may be called anywhere.
static void setModifiers(BuildContext &c, Operation *loop, const LoopModifiers &modifiers) {
  // On chips only loops of kernels become instructions.
  if (c.binding.chip && !c.isInKernel()) {
    c.frame->whyNot[modifiers.label] = "the loop is not part of a kernel: it submits tasks";
    return;
  }
  const Expr *depth = modifiers.pipelineExpr; // a tunable gives it
  std::optional<int64_t> given = depth && depth->dim ? constantDim(c, depth->dim) : std::nullopt;
  int64_t pipeline = given.value_or(modifiers.pipeline);
  std::optional<int64_t> unroll;
  if (modifiers.unroll)
    unroll = modifiers.unrollFactor;
  Span pipelineAt = kNoSpan, unrollAt = modifiers.unrollSpan;
  auto take = [&](const std::vector<ScheduleModifier> &all, auto &number, Span &at) {
    for (const ScheduleModifier &each : all)
      if (each.label == modifiers.label) {
        number = each.number;
        at = each.span;
        // The schedule has been heard, so it is not reported as without effect.
        c.frame->taken.insert(each.span.begin);
      }
  };
  if (c.frame->schedule) {
    take(c.frame->schedule->pipelines, pipeline, pipelineAt);
    take(c.frame->schedule->unrolls, unroll, unrollAt);
  }
  // A deeper pipeline would need more slots than there can be.
  if (pipeline > kMostPipelineDepth) {
    c.fail(
        DiagId::CountTooLarge, depth ? depth->span : pipelineAt,
        {"the depth of a pipeline", std::to_string(kMostPipelineDepth), std::to_string(pipeline)});
    return;
  }
  OpBuilder b(loop);
  if (pipeline > 1)
    attrs::pipeline.set(loop, pipeline);
  if (!unroll)
    return;
  attrs::unroll.set(loop, *unroll);
  // An `unroll` that has no effect is reported at its place.
  if (c.binding.chip)
    attrs::unrollAt.set(loop, LocationAttr(c.location(unrollAt)));
}

/// A loop with `break` or `continue` runs as `scf.while` over the position and the flags.
static void buildExitingFor(BuildContext &c, const ForStmt &stmt) {
  Location loc = c.location(stmt.span);
  c.frame->whyNot[stmt.modifiers.label] = "the loop may be left early";
  LoopBounds bounds = loopBounds(c, stmt.head);
  // Exits of the loop around are set aside, and those of this loop begin.
  std::optional<ExitFlags> outer = c.exits;
  mlir::Value no = c.make<arith::ConstantIntOp>(loc, 0, 1);
  c.exits = ExitFlags{no, no};
  mlir::Value position = bounds.lower;
  // All variables that the body assigns are carried by the loop, and the position with them.
  Slots slots = assignedSlots(c, {stmt.body});
  slots.push_back(&position);
  llvm::SmallVector<mlir::Value> init = slotValues(slots);
  llvm::SmallVector<mlir::Type> types(ValueRange(init).getTypes());
  auto before = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    mlir::Value more =
        c.make<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, position, bounds.upper);
    // The loop goes on while the position is inside and nothing has left it.
    mlir::Value running =
        c.make<arith::XOrIOp>(loc, c.exits->broke, c.make<arith::ConstantIntOp>(loc, 1, 1));
    mlir::Value go = c.make<arith::AndIOp>(loc, more, running);
    c.make<scf::ConditionOp>(loc, go, args);
  };
  auto after = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    // `continue` only skips the rest of one turn.
    c.exits->continued = c.make<arith::ConstantIntOp>(loc, 0, 1);
    bindLoopVar(c, stmt.head, bounds, position);
    buildBlock(c, *stmt.body);
    position = c.make<arith::AddIOp>(loc, position, bounds.step);
    c.make<scf::YieldOp>(loc, slotValuesAs(c, slots, types, loc));
  };
  auto loop = c.b.create<scf::WhileOp>(loc, types, init, before, after);
  nameArguments(c, slots, loop.getBeforeArguments());
  nameArguments(c, slots, loop.getAfterArguments());
  setSlots(slots, loop.getResults());
  eraseSymbols(*c.frame, stmt.head);
  c.exits = outer;
  leaveOuterLoop(c, stmt, loc);
}

/// How often a loop with constant bounds runs. They may be as far apart as numbers can be.
static int64_t roundsOf(int64_t lower, int64_t upper, int64_t step) {
  if (lower >= upper || step < 1)
    return 0;
  // The distance of two 64-bit integers only fits without a sign.
  uint64_t distance = static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower);
  uint64_t rounds = (distance - 1) / static_cast<uint64_t>(step) + 1;
  return static_cast<int64_t>(std::min<uint64_t>(rounds, std::numeric_limits<int64_t>::max()));
}

/// One round of a loop that is written out, unless one before has left the loop.
static void buildRound(BuildContext &c, const ForStmt &stmt, llvm::function_ref<void()> bind) {
  auto build = [&] {
    bind();
    buildBlock(c, *stmt.body);
    eraseSymbols(*c.frame, stmt.head);
  };
  if (!mayExit(*stmt.body))
    return build();
  Location loc = c.location(stmt.span);
  c.exits->continued = c.make<arith::ConstantIntOp>(loc, 0, 1);
  // If it is known that the loop was left, the round is not built at all.
  if (std::optional<bool> left = constantCondition(c.exits->broke)) {
    if (!*left)
      build();
    return;
  }
  buildUnlessExited(c, *stmt.body, loc, build);
}

static void buildStaticFor(BuildContext &c, const ForStmt &stmt) {
  // A `break` or `continue` in this loop does not affect the loop around it.
  llvm::SaveAndRestore<std::optional<ExitFlags>> outer(c.exits);
  if (mayExit(*stmt.body)) {
    mlir::Value no = c.make<arith::ConstantIntOp>(c.location(stmt.span), 0, 1);
    c.exits = ExitFlags{no, no};
  }
  c.frame->whyNot[stmt.modifiers.label] = "the compiler unrolls this loop";
  if (mayReturn(stmt)) {
    c.fail(DiagId::ReturnInStaticLoop, stmt.span, {c.frame->decl->name, c.binding.machine});
    return;
  }
  if (stmt.head.iterable->kind == ExprKind::List) {
    for (const Expr *element : cast<ListExpr>(*stmt.head.iterable).elements) {
      if (c.isTooLarge(stmt.span, "the loop over `" + stmt.head.var->name + "`"))
        return;
      buildRound(c, stmt, [&] { bindLocal(c, *stmt.head.var, buildExpr(c, *element)); });
    }
    return;
  }
  LoopBounds bounds = loopBounds(c, stmt.head);
  IntegerAttr lower, upper, step;
  if (!matchPattern(bounds.lower, m_Constant(&lower)) ||
      !matchPattern(bounds.upper, m_Constant(&upper)) ||
      !matchPattern(bounds.step, m_Constant(&step))) {
    c.fail(DiagId::StaticBoundNotKnown, stmt.head.iterable->span, {stmt.head.var->name});
    return;
  }
  int64_t rounds = roundsOf(lower.getInt(), upper.getInt(), step.getInt());
  std::string what =
      "`static for " + stmt.head.var->name + "` of " + std::to_string(rounds) + " iterations";
  // The limit on built code also bounds rounds that build nothing.
  if (static_cast<size_t>(rounds) > c.mostBuilt)
    c.built = c.mostBuilt + 1; // empty rounds take time too
  for (int64_t round = 0; round < rounds; ++round) {
    if (c.isTooLarge(stmt.span, what))
      return;
    int64_t i = lower.getInt() + round * step.getInt();
    buildRound(c, stmt, [&] { bindLoopVar(c, stmt.head, bounds, c.index(i)); });
  }
}

void buildFor(BuildContext &c, const ForStmt &stmt) {
  // A list has no positions, so its loop is always written out.
  if (stmt.isStatic || stmt.head.iterable->kind == ExprKind::List)
    return buildStaticFor(c, stmt);
  // A loop that can be left early has no fixed number of turns.
  if (mayExit(*stmt.body) || mayReturn(stmt))
    return buildExitingFor(c, stmt);
  Location loc = c.location(stmt.span);
  LoopBounds bounds = loopBounds(c, stmt.head);
  // The flags are set aside, since nothing in this loop can leave it.
  std::optional<ExitFlags> outer = std::exchange(c.exits, std::nullopt);
  Slots slots = assignedSlots(c, {stmt.body});
  llvm::SmallVector<mlir::Value> init = slotValues(slots);
  llvm::SmallVector<mlir::Type> types(ValueRange(init).getTypes());
  auto loop = c.b.create<scf::ForOp>(loc, bounds.lower, bounds.upper, bounds.step, init);
  {
    OpBuilder::InsertionGuard guard(c.b);
    mlir::Block *body = loop.getBody();
    if (!body->empty()) // without variables the builder has ended the body
      body->back().erase();
    c.b.setInsertionPointToStart(body);
    setSlots(slots, loop.getRegionIterArgs());
    bindLoopVar(c, stmt.head, bounds, loop.getInductionVar());
    buildBlock(c, *stmt.body);
    c.make<scf::YieldOp>(loc, slotValuesAs(c, slots, types, loc));
  }
  setModifiers(c, loop, stmt.modifiers);
  nameArgument(cast<BlockArgument>(loop.getInductionVar()), stmt.head.var->name);
  nameArguments(c, slots, loop.getRegionIterArgs());
  setSlots(slots, loop.getResults());
  eraseSymbols(*c.frame, stmt.head);
  c.exits = outer;
}

void buildWhile(BuildContext &c, const WhileStmt &stmt) {
  Location loc = c.location(stmt.span);
  std::optional<ExitFlags> outer = c.exits;
  bool exits = mayExit(*stmt.body) || mayReturn(stmt);
  mlir::Value no = c.make<arith::ConstantIntOp>(loc, 0, 1);
  c.exits = ExitFlags{no, no};
  Slots slots = assignedSlots(c, {stmt.body}, stmt.condition);
  llvm::SmallVector<mlir::Value> init = slotValues(slots);
  llvm::SmallVector<mlir::Type> types(ValueRange(init).getTypes());
  auto before = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    mlir::Value go;
    if (exits) {
      mlir::Value one = c.make<arith::ConstantIntOp>(loc, 1, 1);
      // Once the loop has been left, its condition is not computed again: what it reads may lie
      // beyond the end of an array, which is why the loop was left.
      mlir::Value running = c.make<arith::XOrIOp>(loc, c.exits->broke, one);
      go = buildWhere(c, running, true, *stmt.condition, loc);
    } else {
      go = buildValue(c, *stmt.condition);
    }
    c.make<scf::ConditionOp>(loc, go, slotValuesAs(c, slots, types, loc));
  };
  auto after = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    if (exits)
      c.exits->continued = c.make<arith::ConstantIntOp>(loc, 0, 1);
    buildBlock(c, *stmt.body);
    c.make<scf::YieldOp>(loc, slotValuesAs(c, slots, types, loc));
  };
  auto loop = c.b.create<scf::WhileOp>(loc, types, init, before, after);
  nameArguments(c, slots, loop.getBeforeArguments());
  nameArguments(c, slots, loop.getAfterArguments());
  setSlots(slots, loop.getResults());
  c.exits = outer;
  leaveOuterLoop(c, stmt, loc);
}

} // namespace ptl::ir
