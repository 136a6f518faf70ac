// Loops without a known number of turns, and checks.
#include "passes/lower_block/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

/// What one side of a `while` hands to the other: scalars as they are, tiles in buffers of their
/// own.
struct KernelLowering::Carried {
  llvm::SmallVector<Value> scalars;
  llvm::SmallVector<std::pair<unsigned, Tile>> tiles;
};

/// Buffers for the tiles among these values, which are bound to `arguments`.
std::optional<KernelLowering::Carried> KernelLowering::carriedBuffers(Operation *op,
                                                                      ValueRange arguments) {
  Carried carried;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (isScalar(argument) || core_ == CoreKind::Cube)
      continue;
    std::optional<Extents2> extents = extentsOf(op, argument.getType());
    if (!extents)
      return std::nullopt;
    Tile tile;
    tile.extents = *extents;
    tile.element = ir::elementTypeOf(argument.getType());
    tile.form = formOf(tile);
    tile.buffer = allocateLike(tile, named(argument));
    carried.tiles.emplace_back(static_cast<unsigned>(i), tile);
  }
  return carried;
}

llvm::SmallVector<Value> KernelLowering::scalarsAmong(ValueRange values) {
  llvm::SmallVector<Value> scalars;
  for (Value value : values)
    if (isScalar(value))
      scalars.push_back(scalarOf(value));
  return scalars;
}

void KernelLowering::bindCarried(ValueRange arguments, ValueRange scalars, const Carried &carried) {
  size_t next = 0;
  for (Value argument : arguments)
    if (isScalar(argument))
      scalars_[argument] = scalars[next++];
  for (const auto &[i, tile] : carried.tiles)
    setTile(arguments[i], tile);
}

/// Names included.
static llvm::SmallVector<Location> scalarLocations(ValueRange arguments) {
  llvm::SmallVector<Location> locations;
  for (Value argument : arguments)
    if (ir::rankOf(argument.getType()) == 0)
      locations.push_back(argument.getLoc());
  return locations;
}

void KernelLowering::lowerWhile(scf::WhileOp loop) {
  Location loc = loop.getLoc();
  // A condition that hands everything on leaves it where it is.
  bool handsOn = ValueRange(loop.getBeforeArguments()) == loop.getConditionOp().getArgs();
  std::optional<Carried> before = carriedBuffers(loop, loop.getBeforeArguments()),
                         after = handsOn ? before : carriedBuffers(loop, loop.getAfterArguments());
  if (!before || !after)
    return;
  for (const auto &[i, tile] : before->tiles)
    keep(loop.getInits()[i], tile, loc);
  llvm::SmallVector<Value> inits = scalarsAmong(loop.getInits());
  llvm::SmallVector<Type> afterTypes;
  for (Value argument : loop.getAfterArguments())
    if (isScalar(argument))
      afterTypes.push_back(argument.getType());
  if (llvm::is_contained(inits, Value()))
    return fail(loop, "a scalar that another core computes");
  auto made = b_.create<scf::WhileOp>(loc, afterTypes, inits);
  {
    OpBuilder::InsertionGuard guard(b_);
    Block *body = b_.createBlock(&made.getBefore(), {}, ValueRange(inits).getTypes(),
                                 scalarLocations(loop.getBeforeArguments()));
    bindCarried(loop.getBeforeArguments(), body->getArguments(), *before);
    llvm::for_each(loop.getBeforeArguments(), [&](Value argument) { cross(argument); });
    lowerBlock(*loop.getBeforeBody());
    if (failed_)
      return;
    scf::ConditionOp condition = loop.getConditionOp();
    keepAll(condition.getArgs(), after->tiles, loc);
    freeSlots(condition);
    Value holds = scalarOf(condition.getCondition());
    llvm::SmallVector<Value> handed = scalarsAmong(condition.getArgs());
    if (!holds || llvm::is_contained(handed, Value()))
      return fail(loop, "a condition that another core computes");
    b_.create<scf::ConditionOp>(loc, holds, handed);
  }
  {
    OpBuilder::InsertionGuard guard(b_);
    Block *body =
        b_.createBlock(&made.getAfter(), {}, afterTypes, scalarLocations(loop.getAfterArguments()));
    bindCarried(loop.getAfterArguments(), body->getArguments(), *after);
    llvm::for_each(loop.getAfterArguments(), [&](Value argument) { cross(argument); });
    lowerBlock(*loop.getAfterBody());
    if (failed_)
      return;
    scf::YieldOp yield = loop.getYieldOp();
    keepAll(yield.getOperands(), before->tiles, loc);
    freeSlots(yield);
    b_.create<scf::YieldOp>(loc, scalarsAmong(yield.getOperands()));
  }
  bindCarried(loop.getResults(), made.getResults(), *after);
}

/// Tiles go to the device's log; scalars as tiles of one element.
void KernelLowering::lowerPrint(Operation *op) {
  if (core_ == CoreKind::Cube)
    return;
  Location loc = op->getLoc();
  for (Value operand : op->getOperands()) {
    std::optional<Tile> tile = operandTile(op, operand);
    if (!tile)
      return;
    if (tile->form == Tile::Form::Mask)
      tile = bytesOf(*tile, loc);
    if (isScalar(operand)) {
      if (operand.getType().isIndex()) {
        tile->scalar = b_.create<arith::IndexCastOp>(loc, b_.getI32Type(), tile->scalar);
        tile->element = b_.getI32Type();
      }
      tile->extents = {1, 1, constant(1), constant(1)};
    }
    Tile printed = materialise(*tile, loc);
    MemoryBox once;
    once.present = onceOnly(op, {}, ir::extentsOf(operand.getType()));
    whenPresent(once, loc, [&] { emit(loc, InstructionId::TPrint, {printed.buffer}, {}); });
  }
}

/// A branch that stops the kernel. Of a mixed kernel each core checks what it knows.
void KernelLowering::lowerCheck(ir::CheckOp check) {
  Location loc = check.getLoc();
  Value holds = scalarOf(check.getCondition());
  llvm::SmallVector<Value> values;
  for (Value value : check.getValues())
    values.push_back(scalarOf(value));
  if (!holds || llvm::is_contained(values, Value()) || matchPattern(holds, m_One()))
    return;
  OpBuilder::InsertionGuard guard(b_);
  Value yes = b_.create<arith::ConstantIntOp>(loc, 1, 1);
  Value fails = b_.createOrFold<arith::XOrIOp>(loc, holds, yes);
  auto branch = b_.create<scf::IfOp>(loc, fails, /*withElseRegion=*/false);
  b_.setInsertionPointToStart(&branch.getThenRegion().front());
  b_.create<pto::TrapOp>(loc, check.getStatus(), check.getMessage(), values);
}

} // namespace ptl::block
