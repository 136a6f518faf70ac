// Operations that give the elements of their operands at other positions.
#include "passes/lower_block/lower_moves.h"
#include "ir/dialect/op_facts.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_boxes.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_positions.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/scalars.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

// ---- operands and results -----------------------------------------------------------------------

static void lowerInsert(KernelContext &c, Operation *op);
static void lowerConcat(KernelContext &c, Operation *op);
static void lowerInterleave(KernelContext &c, Operation *op);
static void lowerDeinterleave(KernelContext &c, Operation *op);

/// The lengths of a result's open axes, where an operation has them as operands, in their order.
static ValueRange saidLengths(Operation *op) {
  return llvm::TypeSwitch<Operation *, ValueRange>(op)
      .Case<ir::ReshapeOp, ir::BroadcastOp, ir::TopkOp>([](auto made) { return made.getLengths(); })
      .Case<ir::ZerosOp, ir::OnesOp, ir::FullOp>(
          [](Operation *made) { return made->getOperands(); })
      .Case<ir::IndexOp>([](ir::IndexOp made) { return made.getLengths(); })
      .Default([](Operation *) { return ValueRange(); });
}

/// The open axes of a result with the lengths that an operation has for them: the last ones, since
/// `topk` takes the others from its operand.
static llvm::SmallVector<std::pair<size_t, Value>> saidAxes(Operation *op, Value result) {
  llvm::SmallVector<std::pair<size_t, Value>> said;
  ValueRange lengths = saidLengths(op);
  llvm::SmallVector<size_t> open;
  for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(result.getType())))
    if (!extent.isConstant())
      open.push_back(axis);
  size_t skipped = open.size() - std::min<size_t>(open.size(), lengths.size());
  for (size_t i = 0; i + skipped < open.size(); ++i)
    said.emplace_back(open[i + skipped], lengths[i]);
  return said;
}

/// The lengths of a result that its types name and nothing said before.
void bindLengths(KernelContext &c, Operation *op) {
  auto bind = [&](Value result, size_t axis, Value length) {
    const ir::Extent &extent = ir::extentsOf(result.getType())[axis];
    if (extent.symbol && length)
      c.lengths[extent.symbol] = length;
  };
  auto lengthAt = [&](Value value, size_t axis) {
    return lengthOf(c, ir::extentsOf(value.getType())[axis]);
  };
  // A named length that is dealt to the vector cores means the part that this core has.
  auto ranged = [&](Value result, size_t axis, Value length) {
    if (Value known = scalarOf(c, length))
      bind(result, axis, dealt(c, known, ir::extentsOf(result.getType())[axis]));
  };
  for (Value result : op->getResults())
    for (auto [axis, length] : saidAxes(op, result))
      ranged(result, axis, length);
  llvm::TypeSwitch<Operation *>(op)
      .Case<ir::SliceOp, ir::LoadOp>([&](auto slice) {
        size_t kept = 0;
        for (auto [axis, length] : llvm::enumerate(slice.getLengths()))
          if (!llvm::is_contained(slice.getDropped(), static_cast<int64_t>(axis)))
            ranged(slice.getResult(), kept++, length);
      })
      .Case<ir::ConcatOp>([&](auto concat) {
        if (ringOf(c, concat.getResult())) // of slices that are dealt, the whole of which is known
          return;
        auto axis = static_cast<size_t>(concat.getAxis());
        Value sum = constant(c, 0);
        for (Value part : concat.getXs()) {
          if (!lengthAt(part, axis)) // of what only the vector cores have
            return;
          sum = plus(c, sum, lengthAt(part, axis));
        }
        bind(concat.getResult(), axis, sum);
      })
      .Case<ir::TakeOp>([&](auto take) {
        bind(take.getResult(), static_cast<size_t>(take.getAxis()), lengthAt(take.getIndex(), 0));
      })
      .Case<ir::InterleaveOp>([&](auto both) {
        size_t last = ir::extentsOf(both.getResult().getType()).size() - 1;
        if (lengthAt(both.getA(), last))
          bind(both.getResult(), last, times(c, lengthAt(both.getA(), last), constant(c, 2)));
      })
      .Case<ir::DeinterleaveOp>([&](auto parts) {
        size_t last = ir::extentsOf(parts.getX().getType()).size() - 1;
        if (!lengthAt(parts.getX(), last))
          return;
        Value half =
            c.b.createOrFold<arith::DivUIOp>(c.loc, lengthAt(parts.getX(), last), constant(c, 2));
        for (Value result : op->getResults())
          bind(result, last, half);
      });
}

std::optional<ShapedTile> sourceOf(KernelContext &c, Operation *op, Value operand) {
  std::optional<Tile> tile = operandTile(c, op, operand);
  if (!tile)
    return std::nullopt;
  if (tile->form == Form::Mask) {
    fail(c, op, "`" + op->getName().stripDialect().str() + "` of packed conditions");
    return std::nullopt;
  }
  return shaped(c, *tile, operand.getType());
}

/// A new buffer for a result, which is bound to it.
std::optional<ShapedTile> newResult(KernelContext &c, Operation *op, unsigned number) {
  Value result = op->getResult(number);
  std::optional<Tile> tile = tileFor(c, op, result.getType());
  if (!tile)
    return std::nullopt;
  tile->form = formOf(tile->extents);
  tile->buffer = allocateLike(c, *tile, op->getLoc());
  setTile(c, result, *tile);
  return shaped(c, *tile, result.getType());
}

static void lowerMove(KernelContext &c, Operation *op) {
  bindLengths(c, op);
  llvm::TypeSwitch<Operation *>(op)
      .Case<ir::InsertOp>([&](auto) { lowerInsert(c, op); })
      .Case<ir::TakeOp>([&](auto) { lowerTake(c, op); })
      .Case<ir::GatherOp>([&](auto) { lowerGather(c, op); })
      .Case<ir::ScatterOp>([&](auto) { lowerScatter(c, op); })
      .Case<ir::ConcatOp>([&](auto) { lowerConcat(c, op); })
      .Case<ir::InterleaveOp>([&](auto) { lowerInterleave(c, op); })
      .Default([&](Operation *) { lowerDeinterleave(c, op); });
}

InstructionPatterns movePatterns() {
  static constexpr InstructionPattern patterns[] = {
      {[](Operation *op, const Machine &) -> llvm::StringRef {
         bool moves = isa<ir::InsertOp, ir::TakeOp, ir::GatherOp, ir::ScatterOp, ir::ConcatOp,
                          ir::InterleaveOp, ir::DeinterleaveOp>(op);
         return moves ? "move" : "";
       },
       lowerMove}};
  return patterns;
}

// ---- boxes --------------------------------------------------------------------------------------

namespace {
/// A box of a tile: for each axis where it begins, its step (null: 1), and whether it stays.
struct TileBox {
  llvm::SmallVector<Value, 4> offsets, lengths, steps;
  llvm::SmallVector<bool, 4> dropped;
};
} // namespace

template <typename OpT> static TileBox boxIn(OpT op, llvm::function_ref<Value(Value)> scalarOf) {
  TileBox box;
  for (auto [axis, offset] : llvm::enumerate(op.getOffsets())) {
    box.offsets.push_back(scalarOf(offset));
    box.lengths.push_back(scalarOf(op.getLengths()[axis]));
    box.steps.push_back(op.getSteps().empty() ? Value() : scalarOf(op.getSteps()[axis]));
    box.dropped.push_back(llvm::is_contained(op.getDropped(), static_cast<int64_t>(axis)));
  }
  return box;
}

/// The first element of every second one of each row, where a part has all rows of the tile; nothing for other parts.
static std::optional<int64_t> everySecondFrom(ir::SliceOp slice, const TileBox &box) {
  llvm::ArrayRef<ir::Extent> from = ir::extentsOf(slice.getSource().getType()),
                             to = ir::extentsOf(slice.getResult().getType());
  size_t last = from.size() - 1;
  if (slice.getOutside() || to.size() != from.size() || from.drop_back() != to.drop_back() ||
      !box.steps[last] || getConstantIntValue(box.steps[last]) != 2)
    return std::nullopt;
  for (size_t axis = 0; axis < last; ++axis)
    if (!matchPattern(box.offsets[axis], m_Zero()) || !isUnit(box.steps[axis]))
      return std::nullopt;
  std::optional<int64_t> first = getConstantIntValue(box.offsets[last]);
  return first && (*first == 0 || *first == 1) ? first : std::nullopt;
}

/// Every second element of each row, where an instruction takes them.
static bool sliceByPattern(KernelContext &c, ir::SliceOp slice, const TileBox &box,
                           const ShapedTile &from, const ShapedTile &to) {
  std::optional<int64_t> first = everySecondFrom(slice, box);
  if (!first || from.tile.form != Form::Whole || !takesEverySecond(c, to))
    return false;
  c.loc = slice.getLoc();
  auto type = cast<pto::TileBufType>(from.tile.buffer.getType());
  Value count = to.lengths.back(), zero = constant(c, 0);
  Value span = plus(c, spanOfEverySecond(c, count), constant(c, *first));
  takeEverySecond(c, {from.tile.buffer, zero, to.tile.buffer, zero, type.getRows(),
                      from.tile.extents.validRows, span, count, *first == 1});
  return true;
}

/// By how much whole rows of a matrix are moved up or down, where the number is known.
static std::optional<int64_t> rowShift(const TileBox &box) {
  bool isWhole = box.offsets.size() == 2 && !box.dropped[0] && isUnit(box.steps[0]) &&
                 matchPattern(box.offsets[1], m_Zero());
  return isWhole ? getConstantIntValue(box.offsets[0]) : std::nullopt;
}

/// Whether a box of a tile has all its rows, as they are, and some of its columns.
static bool hasAllRows(const TileBox &box, Type whole, Type part) {
  llvm::ArrayRef<ir::Extent> from = ir::extentsOf(whole), to = ir::extentsOf(part);
  if (from.size() != to.size() || llvm::is_contained(box.dropped, true))
    return false;
  for (size_t axis = 0; axis + 1 < from.size(); ++axis)
    if (from[axis] != to[axis] || !matchPattern(box.offsets[axis], m_Zero()) ||
        !isUnit(box.steps[axis]))
      return false;
  return true;
}

/// Columns that no window can have: they do not begin at a block, or have others between them.
static bool sliceByPositions(KernelContext &c, ir::SliceOp slice, const TileBox &box,
                             const ShapedTile &from, const ShapedTile &to) {
  Value step = box.steps.back();
  std::optional<int64_t> stride = isUnit(step) ? 1 : getConstantIntValue(step);
  if (!hasAllRows(box, slice.getSource().getType(), slice.getResult().getType()) || !stride)
    return false;
  ColumnMove move{box.offsets.back(), constant(c, 0), to.lengths.back(), *stride};
  if (slice.getOutside()) {
    // With a value for what lies outside, the edges of the part would have to be divided by the
    // step.
    if (*stride != 1)
      return false;
    c.loc = slice.getLoc();
    Value zero = constant(c, 0), offset = move.from;
    auto minus = [&](Value a, Value b) { return c.b.createOrFold<arith::SubIOp>(c.loc, a, b); };
    auto atLeastZero = [&](Value a) { return c.b.createOrFold<arith::MaxSIOp>(c.loc, a, zero); };
    move.from = atLeastZero(offset);
    move.to = atLeastZero(minus(zero, offset));
    // The head of the result that lies in front of the source keeps the value beyond the edges. It is no longer than the result, which may
    // have no columns.
    if (!matchPattern(move.to, m_Zero()))
      move.to = minimum(c, move.to, to.lengths.back());
    move.length = atLeastZero(
        minimum(c, minus(to.lengths.back(), move.to), minus(from.lengths.back(), move.from)));
  }
  return gatherColumns(c, from, to, move, slice.getLoc());
}

/// Whether a box of a matrix begins where that does.
static bool beginsAtEdge(const TileBox &box) {
  return box.offsets.size() == 2 && !llvm::is_contained(box.dropped, true) &&
         llvm::all_of(box.steps, isUnit) &&
         llvm::all_of(box.offsets, [](Value offset) { return matchPattern(offset, m_Zero()); });
}

/// A part of a tile, with a scalar beyond its edges where the operation has one.
void sliceByMoves(KernelContext &c, Operation *op, const Tile &source) {
  auto slice = cast<ir::SliceOp>(op);
  bindLengths(c, op);
  TileBox box = boxIn(slice, [&](Value v) { return scalarOf(c, v); });
  std::optional<ShapedTile> to = newResult(c, op);
  if (!to)
    return;
  ShapedTile from = shaped(c, materialise(c, source, op->getLoc()), slice.getSource().getType());
  Movement movement;
  movement.lengths = IndexVector(to->lengths); // those of this core
  auto positions = [&](Indices at) {
    IndexVector in;
    size_t next = 0;
    for (size_t axis = 0; axis < box.offsets.size(); ++axis) {
      Value position = box.offsets[axis];
      if (!box.dropped[axis]) {
        Value along = at[next++];
        position =
            plus(c, position, isUnit(box.steps[axis]) ? along : times(c, along, box.steps[axis]));
      }
      in.push_back(position);
    }
    return in;
  };
  movement.ends = [&](Indices at) {
    return Ends{positions(at), IndexVector(at.begin(), at.end())};
  };
  // Along the last axis all or nothing lies inside.
  size_t last = box.offsets.size() - 1;
  bool wholeRows = !slice.getOutside() || (matchPattern(box.offsets[last], m_Zero()) &&
                                           ir::extentsOf(slice.getSource().getType()).back() ==
                                               ir::extentsOf(slice.getResult().getType()).back());
  movement.inRows = !box.dropped[last] && isUnit(box.steps[last]) && wholeRows &&
                    movesInRows(c, from, box.offsets[last], *to) && to->tile.form == Form::Whole;
  movement.shift = rowShift(box);
  if (slice.getOutside()) {
    Value outside = scalarOf(c, slice.getOutside());
    if (!outside)
      return fail(c, op, "a scalar that another core computes");
    fillWith(c, to->tile, outside, op->getLoc());
    if (beginsAtEdge(box) && moveToCorner(c, from, *to, op->getLoc()))
      return;
    movement.isInside = [&](Indices at) {
      IndexVector in = positions(at);
      Value inside;
      for (auto [axis, position] : llvm::enumerate(in)) {
        if (movement.inRows && axis == last)
          continue;
        Value below = c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::ult, position,
                                                      from.lengths[axis]);
        inside = inside ? c.b.createOrFold<arith::AndIOp>(c.loc, inside, below) : below;
      }
      return inside ? inside : c.b.create<arith::ConstantIntOp>(c.loc, 1, 1).getResult();
    };
  }
  if (!sliceByPattern(c, slice, box, from, *to) &&
      (movement.inRows || !sliceByPositions(c, slice, box, from, *to)))
    move(c, from, *to, movement, op->getLoc());
}

/// Positions in an operand that broadcasts to a box, from those in the box.
llvm::SmallVector<Value, 4> broadcastPositions(Type operand, llvm::ArrayRef<Value> at, Value zero) {
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(operand);
  llvm::SmallVector<Value, 4> in;
  size_t lead = at.size() - std::min(at.size(), extents.size());
  for (size_t axis = 0; axis < extents.size(); ++axis)
    in.push_back(extents[axis].isOne() ? zero : at[lead + axis]);
  return in;
}

/// Where an element of the value lies, and where it goes in the array, from its position in the value.
static Ends endsOfInsert(KernelContext &c, ir::InsertOp insert, const TileBox &box,
                         const std::optional<ShapedTile> &index, Indices at) {
  Ends ends;
  ends.from = broadcastPositions(insert.getValue().getType(), at, constant(c, 0));
  auto indexAxis = insert.getIndexAxis();
  size_t next = 0;
  for (size_t axis = 0; axis < box.offsets.size(); ++axis) {
    Value position = box.offsets[axis];
    if (!box.dropped[axis]) {
      Value along = at[next++];
      if (index && indexAxis && static_cast<size_t>(*indexAxis) == axis)
        along = asPosition(c, readElement(c, *index, {along}));
      position =
          plus(c, position, isUnit(box.steps[axis]) ? along : times(c, along, box.steps[axis]));
    }
    ends.to.push_back(position);
  }
  return ends;
}

static void lowerInsert(KernelContext &c, Operation *op) {
  auto insert = cast<ir::InsertOp>(op);
  Location loc = op->getLoc();
  std::optional<ShapedTile> from = sourceOf(c, op, insert.getValue());
  std::optional<Tile> dest = operandTile(c, op, insert.getDest()), out = resultTile(c, op);
  if (!from || !dest || !out)
    return;
  if (dest->form == Form::Mask)
    return fail(c, op, "`insert` of packed conditions");
  // The result takes the buffer of the array that is written into where that is not used any more;
  // else that is copied first.
  out->buffer = destination(c, op, *out, {insert.getDestMutable().getOperandNumber()});
  if (dest->form == Form::Splat)
    fillWith(c, *out, dest->scalar, loc);
  else if (dest->buffer != out->buffer)
    copy(c, *dest, *out, loc);
  setTile(c, op->getResult(0), *out);
  ShapedTile to = shaped(c, *out, op->getResult(0).getType());
  TileBox box = boxIn(insert, [&](Value v) { return scalarOf(c, v); });
  std::optional<ShapedTile> index;
  if (insert.getIndex() && !(index = sourceOf(c, op, insert.getIndex())))
    return;
  Movement movement;
  for (auto [axis, length] : llvm::enumerate(box.lengths))
    if (!box.dropped[axis])
      movement.lengths.push_back(length);
  movement.ends = [&](Indices at) { return endsOfInsert(c, insert, box, index, at); };
  auto indexAxis = insert.getIndexAxis();
  size_t last = box.offsets.size() - 1;
  // Whole rows are moved where the value has rows, they begin at a block, and no list says where
  // single elements go.
  llvm::ArrayRef<ir::Extent> value = ir::extentsOf(insert.getValue().getType());
  bool rows = !value.empty() && !value.back().isOne() && from->tile.form == Form::Whole;
  movement.inRows = rows && !box.dropped[last] && isUnit(box.steps[last]) &&
                    !(indexAxis && static_cast<size_t>(*indexAxis) == last) &&
                    movesInRows(c, to, box.offsets[last], *from);
  std::optional<int64_t> step = isUnit(box.steps[last]) ? 1 : std::optional<int64_t>();
  if (rows && !movement.inRows && !index && step &&
      hasAllRows(box, op->getResult(0).getType(), insert.getValue().getType()) &&
      gatherColumns(c, *from, to, {constant(c, 0), box.offsets[last], movement.lengths.back()},
                    loc))
    return;
  move(c, *from, to, movement, loc);
}

// ---- arrays side by side ------------------------------------------------------------------------

static void lowerConcat(KernelContext &c, Operation *op) {
  auto concat = cast<ir::ConcatOp>(op);
  auto axis = static_cast<size_t>(concat.getAxis());
  llvm::SmallVector<ShapedTile> parts;
  for (Value part : concat.getXs()) {
    std::optional<ShapedTile> one = sourceOf(c, op, part);
    if (!one)
      return;
    // All parts are looked up before the result gets a buffer, so that none of them lies in it.
    parts.push_back(*one);
  }
  std::optional<ShapedTile> to = newResult(c, op);
  if (!to)
    return;
  for (ShapedTile &part : parts)
    part.tile = materialise(c, part.tile, op->getLoc());
  // One instruction joins two tiles along their rows; more parts, and other axes, are moved one
  // after the other.
  bool sideBySide =
      parts.size() == 2 && axis + 1 == to->lengths.size() &&
      takes(c, InstructionId::TConcat, {to->tile.element}) &&
      llvm::all_of(parts, [](const ShapedTile &part) { return part.tile.form == Form::Whole; });
  if (sideBySide) {
    emit(c, op->getLoc(), InstructionId::TConcat, {parts[0].tile.buffer, parts[1].tile.buffer},
         {to->tile.buffer});
    return;
  }
  Value start = constant(c, 0);
  for (ShapedTile &part : parts) {
    Movement movement;
    // Lengths are those that are valid, so padding of a part is not moved along.
    movement.lengths = IndexVector(part.lengths);
    movement.ends = [&](Indices at) {
      IndexVector target(at.begin(), at.end());
      target[axis] = plus(c, start, at[axis]);
      return Ends{IndexVector(at.begin(), at.end()), target};
    };
    // Along other axes a part begins at whole rows, so that only its first column has to stand at a
    // block.
    bool lastAxis = axis + 1 == to->lengths.size();
    movement.inRows = part.tile.form == Form::Whole &&
                      movesInRows(c, *to, lastAxis ? start : constant(c, 0), part);
    if (movement.inRows || !lastAxis ||
        !gatherColumns(c, part, *to, {constant(c, 0), start, part.lengths[axis]}, op->getLoc()))
      move(c, part, *to, movement, op->getLoc());
    // The next part begins behind what this one really has, which may be less than its buffer.
    start = plus(c, start, part.lengths[axis]);
  }
}

static void lowerInterleave(KernelContext &c, Operation *op) {
  std::optional<ShapedTile> parts[2] = {sourceOf(c, op, op->getOperand(0)),
                                        sourceOf(c, op, op->getOperand(1))};
  std::optional<ShapedTile> to = parts[0] && parts[1] ? newResult(c, op) : std::nullopt;
  if (!to)
    return;
  for (int64_t odd : {0, 1}) {
    Movement movement;
    movement.lengths = IndexVector(parts[odd]->lengths);
    movement.ends = [&](Indices at) {
      IndexVector target(at.begin(), at.end());
      target.back() = plus(c, times(c, target.back(), constant(c, 2)), constant(c, odd));
      return Ends{IndexVector(at.begin(), at.end()), target};
    };
    move(c, *parts[odd], *to, movement, op->getLoc());
  }
}

static void lowerDeinterleave(KernelContext &c, Operation *op) {
  std::optional<ShapedTile> from = sourceOf(c, op, op->getOperand(0));
  if (!from)
    return;
  // Both results read the tile, so a tile that is only described is made once, in front of both.
  from->tile = materialise(c, from->tile, op->getLoc());
  for (unsigned odd : {0u, 1u}) {
    std::optional<ShapedTile> to = newResult(c, op, odd);
    if (!to)
      return;
    if (from->tile.form == Form::Whole && takesEverySecond(c, *to)) {
      c.loc = op->getLoc();
      Value zero = constant(c, 0);
      int64_t rows = cast<pto::TileBufType>(from->tile.buffer.getType()).getRows();
      takeEverySecond(c, {from->tile.buffer, zero, to->tile.buffer, zero, rows,
                          from->tile.extents.validRows, from->lengths.back(), to->lengths.back(),
                          odd != 0});
      continue;
    }
    // The ways are tried from the fastest: an instruction that takes every second element, one that gathers columns, and element by
    // element, which always works.
    ColumnMove every{constant(c, odd), constant(c, 0), to->lengths.back(), /*step=*/2};
    if (gatherColumns(c, *from, *to, every, op->getLoc()))
      continue;
    Movement movement;
    movement.lengths = IndexVector(to->lengths);
    movement.ends = [&](Indices at) {
      IndexVector in(at.begin(), at.end());
      in.back() = plus(c, times(c, in.back(), constant(c, 2)), constant(c, odd));
      return Ends{in, IndexVector(at.begin(), at.end())};
    };
    move(c, *from, *to, movement, op->getLoc());
  }
}

/// A value repeated along the axes that it lacks or has once.
Tile spread(KernelContext &c, const Tile &tile, Type from, Type to, Operation *op) {
  std::optional<Extents2> extents = tileExtentsOf(c, op, to);
  if (!extents)
    return tile;
  Tile whole = tile;
  whole.extents = *extents;
  if (tile.form == Form::Splat)
    return whole;
  bool same = tile.extents.rows == extents->rows && tile.extents.cols == extents->cols;
  if (same)
    return tile;
  bool column = tile.form == Form::Column && tile.extents.rows == extents->rows &&
                takes(c, InstructionId::TRowExpand, {tile.element});
  // Down a column, which is kept as a row, one element goes along that row.
  bool isColumn = extents->cols == 1 && extents->rows > 1;
  // One element is read once and fills the tile.
  if (!column && tile.form == Form::Whole &&
      llvm::all_of(ir::extentsOf(from), [](const ir::Extent &extent) { return extent.isOne(); }) &&
      takes(c, InstructionId::TExpands, {tile.element})) {
    ShapedTile one = shaped(c, tile, from);
    IndexVector first(one.lengths.size(), constant(c, 0));
    whole.scalar = readElement(c, one, first);
    whole.form = Form::Splat;
    whole.buffer = Value();
    return materialise(c, whole, op->getLoc());
  }
  bool row =
      tile.form == Form::Whole && tile.extents.rows == 1 && tile.extents.cols == extents->cols &&
      takes(c, isColumn ? InstructionId::TRowExpand : InstructionId::TColExpand, {tile.element});
  if (column || row)
    return expand(c, tile, *extents, op->getLoc());
  whole.form = formOf(*extents);
  whole.buffer = allocateLike(c, whole, op->getLoc());
  ShapedTile source = shaped(c, tile, from), target = shaped(c, whole, to);
  Movement movement;
  movement.lengths = IndexVector(target.lengths);
  movement.ends = [&](Indices at) {
    return Ends{broadcastPositions(from, at, constant(c, 0)), IndexVector(at.begin(), at.end())};
  };
  movement.inRows =
      tile.form == Form::Whole && whole.form == Form::Whole && tile.extents.cols == extents->cols;
  move(c, source, target, movement, op->getLoc());
  return whole;
}

} // namespace ptl::block
