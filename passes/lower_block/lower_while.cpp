// Loops without a known number of turns, and checks.
#include "passes/lower_block/lower_while.h"
#include "ir/dialect/attributes.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/lower_control.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

/// The values that one region of a `while` passes to the other: scalars as they are, tiles in
/// buffers of their own.
struct Carried {
  llvm::SmallVector<Value> scalars;
  llvm::SmallVector<std::pair<unsigned, Tile>> tiles;
};

/// Buffers for the tiles among these values, which are bound to `arguments`.
static std::optional<Carried> carriedBuffers(KernelContext &c, Operation *op,
                                             ValueRange arguments) {
  Carried carried;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    // The cube core only follows the control flow.
    if (isScalar(c, argument) || c.core == CoreKind::Cube)
      continue;
    std::optional<Tile> tile = tileFor(c, op, argument.getType());
    if (!tile)
      return std::nullopt;
    tile->buffer = allocateLike(c, *tile, named(c, argument));
    carried.tiles.emplace_back(static_cast<unsigned>(i), *tile);
  }
  return carried;
}

static llvm::SmallVector<Value> scalarsAmong(KernelContext &c, ValueRange values) {
  llvm::SmallVector<Value> scalars;
  for (Value value : values)
    if (isScalar(c, value))
      scalars.push_back(scalarOf(c, value));
  return scalars;
}

static void bindCarried(KernelContext &c, ValueRange arguments, ValueRange scalars,
                        const Carried &carried) {
  size_t next = 0;
  for (Value argument : arguments)
    if (isScalar(c, argument))
      c.scalars[argument] = scalars[next++];
  for (const auto &[i, tile] : carried.tiles)
    setTile(c, arguments[i], tile);
}

/// Lowers a region of a `while`, at whose beginning the variables arrive, and at whose end it hands `given` to `other`. The builder is
/// left at its end, where only the terminator is missing. False after an error.
static bool lowerRegion(KernelContext &c, Block &body, const Carried &carried, Region &into,
                        ValueRange given, const Carried &other) {
  llvm::SmallVector<Type> types;
  llvm::SmallVector<Location> locations; // with the names
  for (Value argument : body.getArguments()) {
    if (!isScalar(c, argument))
      continue;
    types.push_back(argument.getType());
    locations.push_back(argument.getLoc());
  }
  Block *made = c.b.createBlock(&into, {}, types, locations);
  bindCarried(c, body.getArguments(), made->getArguments(), carried);
  // What the other core reads of the variables is handed over in each round.
  llvm::for_each(body.getArguments(), [&](Value argument) { cross(c, argument); });
  lowerBlock(c, body);
  if (c.failed)
    return false;
  Operation *end = body.getTerminator();
  keepAll(c, given, other.tiles, end->getParentOp()->getLoc());
  freeSlots(c, end);
  return true;
}

void lowerWhile(KernelContext &c, scf::WhileOp loop) {
  Location loc = loop.getLoc();
  // A condition that hands everything on leaves it where it is.
  bool handsOn = ValueRange(loop.getBeforeArguments()) == loop.getConditionOp().getArgs();
  std::optional<Carried> before = carriedBuffers(c, loop, loop.getBeforeArguments()),
                         after =
                             handsOn ? before : carriedBuffers(c, loop, loop.getAfterArguments());
  if (!before || !after)
    return;
  for (const auto &[i, tile] : before->tiles)
    keep(c, loop.getInits()[i], tile, loc);
  llvm::SmallVector<Value> inits = scalarsAmong(c, loop.getInits());
  llvm::SmallVector<Type> afterTypes;
  for (Value argument : loop.getAfterArguments())
    if (isScalar(c, argument))
      afterTypes.push_back(argument.getType());
  // A null value is one that this core has not computed.
  if (llvm::is_contained(inits, Value()))
    return fail(c, loop, "a scalar that another core computes");
  auto made = c.b.create<scf::WhileOp>(loc, afterTypes, inits);
  // Lengths that one region binds are valid neither in the other region nor behind the loop.
  const auto known = c.lengths;
  {
    OpBuilder::InsertionGuard guard(c.b);
    scf::ConditionOp condition = loop.getConditionOp();
    if (!lowerRegion(c, *loop.getBeforeBody(), *before, made.getBefore(), condition.getArgs(),
                     *after))
      return;
    Value holds = scalarOf(c, condition.getCondition());
    llvm::SmallVector<Value> handed = scalarsAmong(c, condition.getArgs());
    if (!holds || llvm::is_contained(handed, Value()))
      return fail(c, loop, "a condition that another core computes");
    c.b.create<scf::ConditionOp>(loc, holds, handed);
  }
  c.lengths = known;
  {
    OpBuilder::InsertionGuard guard(c.b);
    ValueRange given = loop.getYieldOp().getOperands();
    if (!lowerRegion(c, *loop.getAfterBody(), *after, made.getAfter(), given, *before))
      return;
    c.b.create<scf::YieldOp>(loc, scalarsAmong(c, given));
  }
  c.lengths = known;
  bindCarried(c, loop.getResults(), made.getResults(), *after);
}

void lowerCheck(KernelContext &c, ir::CheckOp check) {
  Location loc = check.getLoc();
  Value holds = scalarOf(c, check.getCondition());
  llvm::SmallVector<Value> values;
  for (Value value : check.getValues())
    values.push_back(scalarOf(c, value));
  // The core that has the values checks them.
  if (!holds || llvm::is_contained(values, Value()) || matchPattern(holds, m_One()))
    return;
  OpBuilder::InsertionGuard guard(c.b);
  Value yes = c.b.create<arith::ConstantIntOp>(loc, 1, 1);
  Value fails = c.b.createOrFold<arith::XOrIOp>(loc, holds, yes);
  auto branch = c.b.create<scf::IfOp>(loc, fails, /*withElseRegion=*/false);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  c.b.create<pto::TrapOp>(loc, check.getStatus(), check.getMessage(), values);
}

} // namespace ptl::block
