// Operations that give the elements of their operands at other positions.
#include "passes/lower_block/lowering.h"
#include "passes/lower_block/scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

// ---- operands and results -----------------------------------------------------------------------

/// The lengths of a result that its types name and nothing said before.
void KernelLowering::bindLengths(Operation *op) {
  auto bind = [&](Value result, size_t axis, Value length) {
    const ir::Extent &extent = ir::extentsOf(result.getType())[axis];
    if (extent.symbol && length)
      lengths_[extent.symbol] = length;
  };
  auto lengthAt = [&](Value value, size_t axis) {
    return lengthOf(ir::extentsOf(value.getType())[axis]);
  };
  auto ranged = [&](Value result, size_t axis, Value length) {
    if (Value known = scalarOf(length))
      bind(result, axis, dealt(known, ir::extentsOf(result.getType())[axis]));
  };
  auto named = [&](Value result, ValueRange lengths) {
    size_t next = 0;
    for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(result.getType())))
      if (!extent.isConstant() && next < lengths.size())
        ranged(result, axis, lengths[next++]);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<ir::SliceOp, ir::LoadOp>([&](auto slice) {
        size_t kept = 0;
        for (auto [axis, length] : llvm::enumerate(slice.getLengths()))
          if (!llvm::is_contained(slice.getDropped(), static_cast<int64_t>(axis)))
            ranged(slice.getResult(), kept++, length);
      })
      .Case<ir::ReshapeOp, ir::BroadcastOp>(
          [&](auto made) { named(made.getResult(), made.getLengths()); })
      .Case<ir::ConcatOp>([&](auto concat) {
        auto axis = static_cast<size_t>(concat.getAxis());
        Value sum = constant(0);
        for (Value part : concat.getXs()) {
          if (!lengthAt(part, axis)) // of what only the vector cores have
            return;
          sum = plus(sum, lengthAt(part, axis));
        }
        bind(concat.getResult(), axis, sum);
      })
      .Case<ir::TakeOp>([&](auto take) {
        bind(take.getResult(), static_cast<size_t>(take.getAxis()), lengthAt(take.getIndex(), 0));
      })
      .Case<ir::InterleaveOp>([&](auto both) {
        size_t last = ir::extentsOf(both.getResult().getType()).size() - 1;
        if (lengthAt(both.getA(), last))
          bind(both.getResult(), last, times(lengthAt(both.getA(), last), constant(2)));
      })
      .Case<ir::DeinterleaveOp>([&](auto parts) {
        size_t last = ir::extentsOf(parts.getX().getType()).size() - 1;
        if (!lengthAt(parts.getX(), last))
          return;
        Value half =
            b_.createOrFold<arith::DivUIOp>(loc_, lengthAt(parts.getX(), last), constant(2));
        for (Value result : op->getResults())
          bind(result, last, half);
      })
      .Case<ir::TopkOp>([&](auto topk) {
        for (Value result : op->getResults())
          named(result, topk.getLengths());
      });
}

std::optional<ShapedTile> KernelLowering::sourceOf(Operation *op, Value operand) {
  std::optional<Tile> tile = operandTile(op, operand);
  if (!tile)
    return std::nullopt;
  if (tile->form == Form::Mask) {
    fail(op, "`" + op->getName().stripDialect().str() + "` of packed conditions");
    return std::nullopt;
  }
  return shaped(*tile, operand.getType());
}

/// A new buffer for a result, which is bound to it.
std::optional<ShapedTile> KernelLowering::newResult(Operation *op, unsigned number) {
  Value result = op->getResult(number);
  std::optional<Extents2> extents = extentsOf(op, result.getType());
  if (!extents)
    return std::nullopt;
  Tile tile;
  tile.extents = *extents;
  tile.element = ir::elementTypeOf(result.getType());
  tile.form = extents->cols == 1 && extents->rows > 1 ? Form::Column : Form::Whole;
  tile.buffer = allocateLike(tile, op->getLoc());
  setTile(result, tile);
  return shaped(tile, result.getType());
}

bool KernelLowering::lowerMove(Operation *op) {
  if (!isa<ir::InsertOp, ir::TakeOp, ir::GatherOp, ir::ScatterOp, ir::ConcatOp, ir::InterleaveOp,
           ir::DeinterleaveOp>(op))
    return false;
  bindLengths(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case<ir::InsertOp>([&](auto) { lowerInsert(op); })
      .Case<ir::TakeOp>([&](auto) { lowerTake(op); })
      .Case<ir::GatherOp>([&](auto) { lowerGather(op); })
      .Case<ir::ScatterOp>([&](auto) { lowerScatter(op); })
      .Case<ir::ConcatOp>([&](auto) { lowerConcat(op); })
      .Case<ir::InterleaveOp>([&](auto) { lowerInterleave(op); })
      .Default([&](Operation *) { lowerDeinterleave(op); });
  return true;
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

static bool isUnit(Value step) { return !step || matchPattern(step, m_One()); }

/// A part of a tile, with a scalar beyond its edges where the operation has one.
void KernelLowering::sliceByMoves(Operation *op, const Tile &source) {
  auto slice = cast<ir::SliceOp>(op);
  bindLengths(op);
  TileBox box = boxIn(slice, [&](Value v) { return scalarOf(v); });
  std::optional<ShapedTile> to = newResult(op);
  if (!to)
    return;
  ShapedTile from = shaped(materialise(source, op->getLoc()), slice.getSource().getType());
  Movement movement;
  for (auto [axis, length] : llvm::enumerate(box.lengths))
    if (!box.dropped[axis])
      movement.lengths.push_back(length);
  auto positions = [&](Indices at) {
    IndexVector in;
    size_t next = 0;
    for (size_t axis = 0; axis < box.offsets.size(); ++axis) {
      Value position = box.offsets[axis];
      if (!box.dropped[axis]) {
        Value along = at[next++];
        position = plus(position, isUnit(box.steps[axis]) ? along : times(along, box.steps[axis]));
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
                    movesInRows(from, box.offsets[last]) && to->tile.form == Form::Whole;
  if (slice.getOutside()) {
    Value outside = scalarOf(slice.getOutside());
    if (!outside)
      return fail(op, "a scalar that another core computes");
    fillWith(to->tile, outside, op->getLoc());
    movement.isInside = [&](Indices at) {
      IndexVector in = positions(at);
      Value inside;
      for (auto [axis, position] : llvm::enumerate(in)) {
        if (movement.inRows && axis == last)
          continue;
        Value below = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::ult, position,
                                                     from.lengths[axis]);
        inside = inside ? b_.createOrFold<arith::AndIOp>(loc_, inside, below) : below;
      }
      return inside ? inside : b_.create<arith::ConstantIntOp>(loc_, 1, 1).getResult();
    };
  }
  move(from, *to, movement, op->getLoc());
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

void KernelLowering::lowerInsert(Operation *op) {
  auto insert = cast<ir::InsertOp>(op);
  Location loc = op->getLoc();
  std::optional<ShapedTile> from = sourceOf(op, insert.getValue());
  std::optional<Tile> dest = operandTile(op, insert.getDest()), out = resultTile(op);
  if (!from || !dest || !out)
    return;
  if (dest->form == Form::Mask)
    return fail(op, "`insert` of packed conditions");
  out->buffer = destination(op, *out, {insert.getDestMutable().getOperandNumber()});
  if (dest->form == Form::Splat)
    fillWith(*out, dest->scalar, loc);
  else if (dest->buffer != out->buffer)
    copy(*dest, *out, loc);
  setTile(op->getResult(0), *out);
  ShapedTile to = shaped(*out, op->getResult(0).getType());
  TileBox box = boxIn(insert, [&](Value v) { return scalarOf(v); });
  std::optional<ShapedTile> index;
  if (insert.getIndex() && !(index = sourceOf(op, insert.getIndex())))
    return;
  Movement movement;
  for (auto [axis, length] : llvm::enumerate(box.lengths))
    if (!box.dropped[axis])
      movement.lengths.push_back(length);
  auto indexAxis = insert.getIndexAxis();
  movement.ends = [&](Indices at) {
    Ends ends;
    ends.from = broadcastPositions(insert.getValue().getType(), at, constant(0));
    size_t next = 0;
    for (size_t axis = 0; axis < box.offsets.size(); ++axis) {
      Value position = box.offsets[axis];
      if (!box.dropped[axis]) {
        Value along = at[next++];
        if (index && indexAxis && static_cast<size_t>(*indexAxis) == axis)
          along = asPosition(readElement(*index, {along}));
        position = plus(position, isUnit(box.steps[axis]) ? along : times(along, box.steps[axis]));
      }
      ends.to.push_back(position);
    }
    return ends;
  };
  size_t last = box.offsets.size() - 1;
  llvm::ArrayRef<ir::Extent> value = ir::extentsOf(insert.getValue().getType());
  bool rows = !value.empty() && !value.back().isOne() && from->tile.form == Form::Whole;
  movement.inRows = rows && !box.dropped[last] && isUnit(box.steps[last]) &&
                    !(indexAxis && static_cast<size_t>(*indexAxis) == last) &&
                    movesInRows(to, box.offsets[last]);
  move(*from, to, movement, loc);
}

// ---- by position --------------------------------------------------------------------------------

void KernelLowering::lowerTake(Operation *op) {
  auto take = cast<ir::TakeOp>(op);
  auto axis = static_cast<size_t>(take.getAxis());
  Operation *box = take.getSource().getDefiningOp();
  bool boxed = box && isa<ir::SliceOp, ir::LoadOp>(box) && !tileOf(take.getSource()) &&
               pointers_.count(box->getOperand(0));
  if (boxed || pointers_.count(take.getSource()))
    return takeGlobal(op, boxed ? box : nullptr);
  std::optional<ShapedTile> from = sourceOf(op, take.getSource()),
                            index = sourceOf(op, take.getIndex());
  std::optional<ShapedTile> to = from && index ? newResult(op) : std::nullopt;
  if (!to)
    return;
  from->tile = materialise(from->tile, op->getLoc());
  Movement movement;
  movement.lengths = IndexVector(to->lengths);
  movement.ends = [&](Indices at) {
    IndexVector in(at.begin(), at.end());
    in[axis] = asPosition(readElement(*index, {at[axis]}));
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  movement.inRows = axis + 1 < to->lengths.size() && from->tile.form == Form::Whole &&
                    to->tile.form == Form::Whole;
  move(*from, *to, movement, op->getLoc());
}

/// Positions along the rows of `from` as positions in the whole tile, which the instruction takes.
Tile KernelLowering::positionsInTile(const Tile &from, const Tile &index, Location loc) {
  if (from.extents.rows == 1)
    return index;
  Tile numbers;
  numbers.extents = {1, index.extents.rows, constant(1), index.extents.validRows};
  numbers.element = index.element;
  numbers.buffer = allocateLike(numbers, loc);
  emit(loc, InstructionId::TCi, {constantOf(index.element, 0)}, {numbers.buffer},
       {b_.getNamedAttr("descending", b_.getBoolAttr(false))});
  int64_t pitch = cast<pto::TileBufType>(from.buffer.getType()).getCols();
  Tile starts = numbers;
  starts.buffer = allocateLike(starts, loc);
  emit(loc, InstructionId::TMuls,
       {numbers.buffer, constantOf(index.element, static_cast<double>(pitch))}, {starts.buffer});
  starts.form = Form::Column;
  std::swap(starts.extents.rows, starts.extents.cols);
  std::swap(starts.extents.validRows, starts.extents.validCols);
  Tile positions = index;
  positions.buffer = allocateLike(positions, loc);
  emit(loc, InstructionId::TRowExpandAdd, {index.buffer, columnView(starts)}, {positions.buffer});
  return positions;
}

/// By one instruction, where the machine has it for these types and positions are along rows.
bool KernelLowering::gatherByInstruction(const ShapedTile &from, const ShapedTile &index,
                                         const ShapedTile &to, size_t axis, Location loc) {
  bool rows = axis + 1 == to.lengths.size() && from.tile.form == Form::Whole &&
              index.tile.form == Form::Whole && to.tile.form == Form::Whole &&
              from.tile.extents.rows == to.tile.extents.rows && index.tile.element.isInteger(32) &&
              takes(InstructionId::TGather, {to.tile.element, index.tile.element}) &&
              takes(InstructionId::TMuls, {index.tile.element}) &&
              takes(InstructionId::TRowExpandAdd, {index.tile.element});
  if (!rows)
    return false;
  Tile positions = positionsInTile(from.tile, index.tile, loc);
  emit(loc, InstructionId::TGather,
       {from.tile.buffer, positions.buffer, allocateLike(positions, loc)}, {to.tile.buffer});
  return true;
}

/// One position per element.
void KernelLowering::lowerGather(Operation *op) {
  auto gather = cast<ir::GatherOp>(op);
  auto axis = static_cast<size_t>(gather.getAxis());
  std::optional<ShapedTile> from = sourceOf(op, gather.getX()),
                            index = sourceOf(op, gather.getIdx());
  std::optional<ShapedTile> to = from && index ? newResult(op) : std::nullopt;
  if (!to)
    return;
  from->tile = materialise(from->tile, op->getLoc());
  if (gatherByInstruction(*from, *index, *to, axis, op->getLoc()))
    return;
  Movement movement;
  movement.lengths = IndexVector(to->lengths);
  movement.ends = [&](Indices at) {
    IndexVector in(at.begin(), at.end());
    in[axis] = asPosition(readElement(*index, at));
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  move(*from, *to, movement, op->getLoc());
}

void KernelLowering::lowerScatter(Operation *op) {
  auto scatter = cast<ir::ScatterOp>(op);
  auto axis = static_cast<size_t>(scatter.getAxis());
  Location loc = op->getLoc();
  std::optional<ShapedTile> start = sourceOf(op, scatter.getX()),
                            index = sourceOf(op, scatter.getIdx()),
                            from = sourceOf(op, scatter.getV());
  if (!start || !index || !from)
    return;
  std::optional<Tile> out = resultTile(op);
  if (!out)
    return;
  out->buffer = destination(op, *out, {scatter.getXMutable().getOperandNumber()});
  if (start->tile.form == Form::Splat)
    fillWith(*out, start->tile.scalar, loc);
  else if (start->tile.buffer != out->buffer)
    copy(start->tile, *out, loc);
  setTile(op->getResult(0), *out);
  ShapedTile to = shaped(*out, op->getResult(0).getType());
  llvm::StringRef combine = scatter.getCombine();
  loc_ = loc;
  // In the order of the positions: the last of equal ones counts.
  forEach(from->lengths, [&](Indices at) {
    IndexVector target(at.begin(), at.end());
    target[axis] = asPosition(readElement(*index, at));
    Value value = readElement(*from, at);
    if (combine != "set")
      value = combineScalars(b_, loc_, combine, readElement(to, target), value);
    writeElement(to, target, value);
  });
}

// ---- arrays side by side ------------------------------------------------------------------------

void KernelLowering::lowerConcat(Operation *op) {
  auto concat = cast<ir::ConcatOp>(op);
  auto axis = static_cast<size_t>(concat.getAxis());
  llvm::SmallVector<ShapedTile> parts;
  for (Value part : concat.getXs()) {
    std::optional<ShapedTile> one = sourceOf(op, part);
    if (!one)
      return;
    parts.push_back(*one);
  }
  std::optional<ShapedTile> to = newResult(op);
  if (!to)
    return;
  for (ShapedTile &part : parts)
    part.tile = materialise(part.tile, op->getLoc());
  bool sideBySide =
      parts.size() == 2 && axis + 1 == to->lengths.size() &&
      takes(InstructionId::TConcat, {to->tile.element}) &&
      llvm::all_of(parts, [](const ShapedTile &part) { return part.tile.form == Form::Whole; });
  if (sideBySide) {
    emit(op->getLoc(), InstructionId::TConcat, {parts[0].tile.buffer, parts[1].tile.buffer},
         {to->tile.buffer});
    return;
  }
  Value start = constant(0);
  for (ShapedTile &part : parts) {
    Movement movement;
    movement.lengths = IndexVector(part.lengths);
    movement.ends = [&](Indices at) {
      IndexVector target(at.begin(), at.end());
      target[axis] = plus(start, at[axis]);
      return Ends{IndexVector(at.begin(), at.end()), target};
    };
    bool lastAxis = axis + 1 == to->lengths.size();
    movement.inRows =
        part.tile.form == Form::Whole && movesInRows(*to, lastAxis ? start : constant(0));
    move(part, *to, movement, op->getLoc());
    start = plus(start, part.lengths[axis]);
  }
}

void KernelLowering::lowerInterleave(Operation *op) {
  std::optional<ShapedTile> parts[2] = {sourceOf(op, op->getOperand(0)),
                                        sourceOf(op, op->getOperand(1))};
  std::optional<ShapedTile> to = parts[0] && parts[1] ? newResult(op) : std::nullopt;
  if (!to)
    return;
  for (int64_t odd : {0, 1}) {
    Movement movement;
    movement.lengths = IndexVector(parts[odd]->lengths);
    movement.ends = [&](Indices at) {
      IndexVector target(at.begin(), at.end());
      target.back() = plus(times(target.back(), constant(2)), constant(odd));
      return Ends{IndexVector(at.begin(), at.end()), target};
    };
    move(*parts[odd], *to, movement, op->getLoc());
  }
}

void KernelLowering::lowerDeinterleave(Operation *op) {
  std::optional<ShapedTile> from = sourceOf(op, op->getOperand(0));
  if (!from)
    return;
  from->tile = materialise(from->tile, op->getLoc());
  for (unsigned odd : {0u, 1u}) {
    std::optional<ShapedTile> to = newResult(op, odd);
    if (!to)
      return;
    bool byPattern = from->tile.form == Form::Whole && to->tile.form == Form::Whole &&
                     takes(InstructionId::TGatherMask, {to->tile.element});
    if (byPattern) {
      auto pattern = odd ? pto::MaskPattern::P1010 : pto::MaskPattern::P0101;
      emit(op->getLoc(), InstructionId::TGatherMask, {from->tile.buffer}, {to->tile.buffer},
           {b_.getNamedAttr("maskPattern", pto::MaskPatternAttr::get(b_.getContext(), pattern))});
      continue;
    }
    Movement movement;
    movement.lengths = IndexVector(to->lengths);
    movement.ends = [&](Indices at) {
      IndexVector in(at.begin(), at.end());
      in.back() = plus(times(in.back(), constant(2)), constant(odd));
      return Ends{in, IndexVector(at.begin(), at.end())};
    };
    move(*from, *to, movement, op->getLoc());
  }
}

// ---- the same elements in another shape ---------------------------------------------------------

/// Row-major order stays: positions are counted, and split again.
void KernelLowering::lowerReshape(Operation *op) {
  std::optional<ShapedTile> from = sourceOf(op, op->getOperand(0));
  std::optional<ShapedTile> to = from ? newResult(op) : std::nullopt;
  if (!to)
    return;
  from->tile = materialise(from->tile, op->getLoc());
  Movement movement;
  movement.lengths = IndexVector(to->lengths);
  movement.ends = [&](Indices at) {
    Value number = constant(0);
    for (auto [position, length] : llvm::zip(at, to->lengths))
      number = plus(times(number, length), position);
    IndexVector in(from->lengths.size());
    for (size_t axis = from->lengths.size(); axis-- > 0;) {
      if (axis == 0) {
        in[0] = number;
        break;
      }
      in[axis] = b_.createOrFold<arith::RemUIOp>(loc_, number, from->lengths[axis]);
      number = b_.createOrFold<arith::DivUIOp>(loc_, number, from->lengths[axis]);
    }
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  move(*from, *to, movement, op->getLoc());
}

void KernelLowering::lowerPermutation(Operation *op) {
  auto transpose = cast<ir::TransposeOp>(op);
  std::optional<ShapedTile> from = sourceOf(op, op->getOperand(0));
  std::optional<ShapedTile> to = from ? newResult(op) : std::nullopt;
  if (!to)
    return;
  from->tile = materialise(from->tile, op->getLoc());
  llvm::ArrayRef<int64_t> axes = transpose.getAxes();
  Movement movement;
  movement.lengths = IndexVector(to->lengths);
  movement.ends = [&](Indices at) {
    IndexVector in(at.size());
    for (auto [position, axis] : llvm::zip(at, axes))
      in[static_cast<size_t>(axis)] = position;
    return Ends{in, IndexVector(at.begin(), at.end())};
  };
  movement.inRows = axes.back() + 1 == static_cast<int64_t>(axes.size()) &&
                    from->tile.form == Form::Whole && to->tile.form == Form::Whole;
  move(*from, *to, movement, op->getLoc());
}

/// A value repeated along the axes that it lacks or has once.
Tile KernelLowering::spread(const Tile &tile, Type from, Type to, Operation *op) {
  std::optional<Extents2> extents = extentsOf(op, to);
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
                takes(InstructionId::TRowExpand, {tile.element});
  // Down a column, which is kept as a row, one element goes along that row.
  bool isColumn = extents->cols == 1 && extents->rows > 1;
  bool row =
      tile.form == Form::Whole && tile.extents.rows == 1 && tile.extents.cols == extents->cols &&
      takes(isColumn ? InstructionId::TRowExpand : InstructionId::TColExpand, {tile.element});
  if (column || row)
    return expand(tile, *extents, op->getLoc());
  whole.form = extents->cols == 1 && extents->rows > 1 ? Form::Column : Form::Whole;
  whole.buffer = allocateLike(whole, op->getLoc());
  ShapedTile source = shaped(tile, from), target = shaped(whole, to);
  Movement movement;
  movement.lengths = IndexVector(target.lengths);
  movement.ends = [&](Indices at) {
    return Ends{broadcastPositions(from, at, constant(0)), IndexVector(at.begin(), at.end())};
  };
  movement.inRows =
      tile.form == Form::Whole && whole.form == Form::Whole && tile.extents.cols == extents->cols;
  move(source, target, movement, op->getLoc());
  return whole;
}

} // namespace ptl::block
