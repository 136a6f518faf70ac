// Operations whose positions are data.
#include "passes/lower_block/lower_positions.h"
#include "ir/dialect/op_facts.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_boxes.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

namespace {
/// The tiles of a look-up: where it reads, at which positions along one axis, and what it fills.
struct LookUp {
  ShapedTile from, index, to;
  Location loc;
};
} // namespace

/// The tiles of an operation that looks up elements of `source`, the source in a buffer. Nothing
/// after an error.
static std::optional<LookUp> lookUpTiles(KernelContext &c, Operation *op, Value source,
                                         Value positions) {
  std::optional<ShapedTile> from = sourceOf(c, op, source), index = sourceOf(c, op, positions);
  std::optional<ShapedTile> to = from && index ? newResult(c, op) : std::nullopt;
  if (!to)
    return std::nullopt;
  from->tile = materialise(c, from->tile, op->getLoc());
  return LookUp{*from, *index, *to, op->getLoc()};
}

/// Fills the result from the elements whose position along `axis` is `positionAt` of where they go.
static void moveLookedUp(KernelContext &c, const LookUp &tiles, size_t axis, bool inRows,
                         llvm::function_ref<Value(Indices)> positionAt) {
  Movement movement;
  movement.lengths = IndexVector(tiles.to.lengths);
  movement.inRows = inRows;
  movement.ends = [&](Indices at) {
    IndexVector in(at.begin(), at.end());
    in[axis] = asPosition(c, positionAt(at));
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  move(c, tiles.from, tiles.to, movement, tiles.loc);
}

void lowerTake(KernelContext &c, Operation *op) {
  auto take = cast<ir::TakeOp>(op);
  auto axis = static_cast<size_t>(take.getAxis());
  Operation *box = take.getSource().getDefiningOp();
  bool boxed = box && isa<ir::SliceOp, ir::LoadOp>(box) && !tileOf(c, take.getSource()) &&
               c.pointers.count(box->getOperand(0));
  if (boxed || c.pointers.count(take.getSource()))
    return takeGlobal(c, op, boxed ? box : nullptr);
  std::optional<LookUp> tiles = lookUpTiles(c, op, take.getSource(), take.getIndex());
  if (!tiles)
    return;
  const auto &[from, index, to, loc] = *tiles;
  bool inRows =
      axis + 1 < to.lengths.size() && from.tile.form == Form::Whole && to.tile.form == Form::Whole;
  moveLookedUp(c, *tiles, axis, inRows,
               [&](Indices at) { return readElement(c, tiles->index, {at[axis]}); });
}

/// Positions along the rows of `from` as positions in the whole tile, which the instruction takes.
static Tile positionsInTile(KernelContext &c, const Tile &from, const Tile &index, Location loc) {
  if (from.extents.rows == 1)
    return index;
  Tile numbers;
  numbers.extents = {1, index.extents.rows, constant(c, 1), index.extents.validRows};
  numbers.element = index.element;
  numbers.buffer = allocateLike(c, numbers, loc);
  emit(c, loc, InstructionId::TCi, {constantOf(c, index.element, 0)}, {numbers.buffer},
       {c.b.getNamedAttr("descending", c.b.getBoolAttr(false))});
  int64_t pitch = cast<pto::TileBufType>(from.buffer.getType()).getCols();
  Tile starts = numbers;
  starts.buffer = allocateLike(c, starts, loc);
  emit(c, loc, InstructionId::TMuls,
       {numbers.buffer, constantOf(c, index.element, static_cast<double>(pitch))}, {starts.buffer});
  starts.form = Form::Column;
  std::swap(starts.extents.rows, starts.extents.cols);
  std::swap(starts.extents.validRows, starts.extents.validCols);
  Tile positions = index;
  positions.buffer = allocateLike(c, positions, loc);
  emit(c, loc, InstructionId::TRowExpandAdd, {index.buffer, columnView(c, starts)},
       {positions.buffer});
  return positions;
}

/// By one instruction, where the machine has it for these types and positions are along rows.
static bool gatherByInstruction(KernelContext &c, const LookUp &tiles, size_t axis) {
  const auto &[from, index, to, loc] = tiles;
  bool rows = axis + 1 == to.lengths.size() && from.tile.form == Form::Whole &&
              index.tile.form == Form::Whole && to.tile.form == Form::Whole &&
              from.tile.extents.rows == to.tile.extents.rows && index.tile.element.isInteger(32) &&
              takes(c, InstructionId::TGather, {to.tile.element, index.tile.element}) &&
              takes(c, InstructionId::TMuls, {index.tile.element}) &&
              takes(c, InstructionId::TRowExpandAdd, {index.tile.element});
  if (!rows)
    return false;
  Tile positions = positionsInTile(c, from.tile, index.tile, loc);
  emit(c, loc, InstructionId::TGather,
       {from.tile.buffer, positions.buffer, allocateLike(c, positions, loc)}, {to.tile.buffer});
  return true;
}

/// One position per element.
void lowerGather(KernelContext &c, Operation *op) {
  auto gather = cast<ir::GatherOp>(op);
  auto axis = static_cast<size_t>(gather.getAxis());
  std::optional<LookUp> tiles = lookUpTiles(c, op, gather.getX(), gather.getIdx());
  if (!tiles || gatherByInstruction(c, *tiles, axis))
    return;
  moveLookedUp(c, *tiles, axis, /*inRows=*/false,
               [&](Indices at) { return readElement(c, tiles->index, at); });
}

void lowerScatter(KernelContext &c, Operation *op) {
  auto scatter = cast<ir::ScatterOp>(op);
  auto axis = static_cast<size_t>(scatter.getAxis());
  Location loc = op->getLoc();
  std::optional<ShapedTile> start = sourceOf(c, op, scatter.getX()),
                            index = sourceOf(c, op, scatter.getIdx()),
                            from = sourceOf(c, op, scatter.getV());
  if (!start || !index || !from)
    return;
  std::optional<Tile> out = resultTile(c, op);
  if (!out)
    return;
  out->buffer = destination(c, op, *out, {scatter.getXMutable().getOperandNumber()});
  if (start->tile.form == Form::Splat)
    fillWith(c, *out, start->tile.scalar, loc);
  else if (start->tile.buffer != out->buffer)
    copy(c, start->tile, *out, loc);
  setTile(c, op->getResult(0), *out);
  ShapedTile to = shaped(c, *out, op->getResult(0).getType());
  std::optional<OpId> combiner = ir::combinerNamed(scatter.getCombine());
  c.loc = loc;
  // In the order of the positions: the last of equal ones counts.
  forEach(c, from->lengths, [&](Indices at) {
    IndexVector target(at.begin(), at.end());
    target[axis] = asPosition(c, readElement(c, *index, at));
    Value value = readElement(c, *from, at);
    if (combiner)
      value = combineScalars(c.b, c.loc, *combiner, readElement(c, to, target), value);
    writeElement(c, to, target, value);
  });
}

} // namespace ptl::block
