// Buffers of tiles: their types, where they are made, when one is used again, and the forms a value
// can be read in.
#include "passes/lower_block/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

static int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/// PTOAS wants tiles of one shape where TCVT makes bytes or is given them, and where TCMP makes a
/// mask of the shape of its operands; rows of bytes are padded to 32, others to 16. What crosses
/// between cores has the rows of the other side.
void KernelLowering::findWideRows(ir::ParallelOp grid) {
  auto rowOf = [&](Type type) {
    int64_t rows = 1, cols = 1;
    for (const ir::Extent &extent : ir::extentsOf(type)) {
      rows *= cols;
      cols = std::max<int64_t>(capacityOf(extent), 1);
    }
    return cols == 1 ? rows : cols;
  };
  auto isByte = [](Type type) { return ir::elementTypeOf(type).isInteger(8); };
  auto isTile = [](Value value) { return isa<ir::ArrayType>(value.getType()); };
  grid.walk([&](Operation *op) {
    bool compares = isa<ir::EqOp, ir::NeOp, ir::LtOp, ir::LeOp, ir::GtOp, ir::GeOp>(op) &&
                    machine_.maskOfOperandShape;
    if (auto store = dyn_cast<ir::StoreOp>(op)) { // conditions lie in global memory as bytes
      if (isTile(store.getValue()) && ir::elementTypeOf(store.getValue().getType()).isInteger(1))
        wideRows_.insert(rowOf(store.getValue().getType()));
    } else if (op->getNumResults() == 1 && isTile(op->getResult(0))) {
      Type type = op->getResult(0).getType();
      bool converts =
          isa<ir::ConvertOp>(op) && (isByte(type) || isByte(op->getOperand(0).getType()));
      bool loads = isa<ir::SliceOp, ir::LoadOp>(op) && ir::elementTypeOf(type).isInteger(1);
      if (converts || loads || (compares && llvm::all_of(op->getOperands(), isTile)))
        wideRows_.insert(rowOf(type));
    }
  });
  for (const llvm::SmallVector<Value> *values : {&cores_.toVector, &cores_.toCube})
    for (Value value : *values)
      wideRows_.erase(rowOf(value.getType()));
}

pto::TileBufType KernelLowering::tileType(ir::Place place, llvm::StringRef layoutName,
                                          const Extents2 &extents, Type element) {
  pto::Layout layout = *pto::layoutByName(layoutName);
  // A kernel of length 0 has buffers all the same.
  int64_t rows = std::max<int64_t>(extents.rows, 1), cols = std::max<int64_t>(extents.cols, 1),
          block = 32 / std::max<int64_t>(1, pto::elementBytes(element));
  if (layout.inner != pto::Layout::None) {
    int64_t fractal = layout.fractal == 1024 ? 16 : std::max<int64_t>(16, block);
    rows = roundUp(rows, fractal);
    cols = roundUp(cols, fractal);
  } else if (layout.box == pto::Layout::RowMajor) {
    // 16 elements at least, as boxes have, so that a tile has the same rows on either side of a
    // queue.
    int64_t least = place == ir::Place::Vec && wideRows_.contains(cols) ? 32 : 16;
    cols = roundUp(cols, std::max(least, block));
  } else {
    rows = roundUp(rows, block);
  }
  auto valid = [&](Value length, int64_t capacity) -> int64_t {
    if (dynamicValid_)
      return pto::kDynamic;
    IntegerAttr number;
    return length && matchPattern(length, m_Constant(&number)) ? number.getInt() : capacity;
  };
  return pto::TileBufType::get(b_.getContext(), place, rows, cols, element,
                               valid(extents.validRows, extents.rows),
                               valid(extents.validCols, extents.cols), layout);
}

Value KernelLowering::allocate(ir::Place place, llvm::StringRef layout, const Extents2 &extents,
                               Type element, Location loc, bool rotates) {
  pto::TileBufType type = tileType(place, layout, extents, element);
  Value rows = type.getValidRows() == pto::kDynamic ? extents.validRows : Value();
  Value cols = type.getValidCols() == pto::kDynamic ? extents.validCols : Value();
  // Parts of a product take turns in two buffers where the product as a whole would rotate.
  bool isPart = part_.isPart() && rotates && rotations_.size() == productRotations_;
  if (isPart)
    return reshape(shared(part_.number % 2,
                          [&]() -> Value {
                            return b_.create<pto::AllocTileOp>(
                                loc, type.withValid(type.getRows(), type.getCols()), Value(),
                                Value(), Value());
                          }),
                   type, rows, cols);
  if (!rotates || rotations_.empty() || rotations_.back().count < 2)
    return b_.create<pto::AllocTileOp>(loc, type, Value(), rows, cols);
  const Rotation &rotation = rotations_.back();
  Value slots = shared(0, [&]() -> Value {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPoint(part_.isPart() ? rotations_[productRotations_].loop : rotation.loop);
    return b_.create<pto::AllocMultiTileOp>(
        loc, pto::MultiTileBufType::get(b_.getContext(), type, rotation.count), Value());
  });
  return b_.create<pto::MultiTileGetOp>(loc, type, slots, rotation.slot, rows, cols);
}

/// A buffer that the parts of a product use in turn, or one of its own. All parts make theirs in
/// the same order.
Value KernelLowering::shared(int64_t turn, llvm::function_ref<Value()> make) {
  if (!part_.isPart())
    return make();
  Value &buffer = partBuffers_[{part_.group, productBuffers_++, turn}];
  return buffer ? buffer : buffer = make();
}

/// Bytes of a row of a mask: packed bits. Where a mask has the shape of the operands most of it is
/// not used.
int64_t KernelLowering::maskBytes(int64_t cols) const {
  return machine_.maskOfOperandShape ? roundUp(cols, 32) : roundUp((cols + 7) / 8, 32);
}

// A column is kept as a row, so that elementwise instructions fill their lanes; a mask as bytes.
std::pair<Extents2, Type> KernelLowering::storage(const Tile &tile) {
  Extents2 extents = tile.extents;
  bool isColumn = extents.cols == 1 && extents.rows > 1;
  if (tile.form == Tile::Form::Column || (tile.form == Tile::Form::Mask && isColumn)) {
    std::swap(extents.rows, extents.cols);
    std::swap(extents.validRows, extents.validCols);
  }
  if (tile.form != Tile::Form::Mask)
    return {extents, tile.element};
  // As many words as rows of the operand have bits, all of its columns counted.
  extents.validCols = constant((extents.cols + 15) / 16 * 2);
  extents.cols = maskBytes(extents.cols);
  return {extents, b_.getI8Type()};
}

Value KernelLowering::allocateLike(const Tile &like, Location loc) {
  auto [extents, element] = storage(like);
  return allocate(ir::Place::Vec, "nd", extents, element, loc);
}

pto::TileBufType KernelLowering::allocateType(const Tile &like) {
  auto [extents, element] = storage(like);
  return tileType(ir::Place::Vec, "nd", extents, element);
}

/// Whether the result of `op` may be written to `buffer`. What `op` reads at `inPlace` it reads
/// element by element where it writes, if the operand lies there in the same form.
bool KernelLowering::mayWrite(Operation *op, Value buffer, llvm::ArrayRef<unsigned> inPlace) {
  llvm::SmallVector<unsigned> aligned;
  for (unsigned number : inPlace)
    if (const Tile *tile = tileOf(op->getOperand(number));
        tile && tile->buffer && tile->buffer.getType() == buffer.getType())
      aligned.push_back(number);
  return sharing_.mayOverwrite(pto::rootOf(buffer), op, aligned);
}

// Where the result of `op` goes: the buffer that is wanted for it, that of an operand which dies
// here, or a new one. `inPlace`: the operands that the instruction may write over.
Value KernelLowering::destination(Operation *op, const Tile &like,
                                  llvm::ArrayRef<unsigned> inPlace) {
  Value result = op->getResult(0);
  pto::TileBufType wanted = allocateType(like);
  auto fits = [&](Value buffer) { return buffer.getType() == wanted; };
  if (Value buffer = wanted_.lookup(result);
      buffer && fits(buffer) && mayWrite(op, buffer, inPlace))
    return buffer;
  for (unsigned number : inPlace) {
    const Tile *tile = tileOf(op->getOperand(number));
    if (!tile || !tile->buffer || tile->form != like.form || !fits(tile->buffer) ||
        !mayWrite(op, tile->buffer, inPlace))
      continue;
    // The scalar unit fills in positions: in a buffer of their own it need not wait for
    // instructions.
    if (llvm::any_of(sharing_.valuesIn(pto::rootOf(tile->buffer)),
                     [](Value value) { return value.getDefiningOp<ir::IndexOp>(); }))
      continue;
    // Rotating buffers stay for their loads; what was popped may go on in its slot.
    Operation *maker = pto::rootOf(tile->buffer).getDefiningOp();
    bool popped = isa_and_nonnull<pto::DeclareTileOp>(maker);
    if (popped && outlivesSlot(result, maker->getResult(0)))
      continue;
    if (!popped &&
        isa_and_nonnull<pto::MultiTileGetOp, pto::TReshapeOp>(tile->buffer.getDefiningOp()))
      continue;
    return tile->buffer;
  }
  return allocateLike(like, op->getLoc());
}

Operation *KernelLowering::emit(Location loc, InstructionId id, ValueRange ins, ValueRange outs,
                                llvm::ArrayRef<NamedAttribute> attributes) {
  return pto::emitInstruction(b_, loc, id, ins, outs, attributes);
}

Value KernelLowering::reshape(Value buffer, pto::TileBufType type, Value rows, Value cols) {
  if (buffer.getType() == type)
    return buffer;
  return b_.create<pto::TReshapeOp>(buffer.getLoc(), type, buffer,
                                    type.getValidRows() == pto::kDynamic ? rows : Value(),
                                    type.getValidCols() == pto::kDynamic ? cols : Value());
}

Value KernelLowering::columnView(const Tile &column) {
  return reshape(column.buffer, tileType(ir::Place::Vec, "dn", column.extents, column.element),
                 column.extents.validRows, column.extents.validCols);
}

Value KernelLowering::fullView(Value buffer) {
  auto type = cast<pto::TileBufType>(buffer.getType());
  return reshape(buffer, type.withValid(type.getRows(), type.getCols()), {}, {});
}

/// As a tile with a buffer: loads what is in memory, fills what is one scalar.
Tile KernelLowering::materialise(const Tile &tile, Location loc) {
  if (tile.form == Tile::Form::Memory)
    return load(tile, loc);
  if (tile.form != Tile::Form::Splat)
    return tile;
  Tile filled = tile;
  filled.form =
      tile.extents.cols == 1 && tile.extents.rows > 1 ? Tile::Form::Column : Tile::Form::Whole;
  filled.buffer = allocateLike(filled, loc);
  fillWith(filled, tile.scalar, loc);
  return filled;
}

/// A column or a row as a whole tile, one element as a column.
Tile KernelLowering::expand(const Tile &tile, const Extents2 &extents, Location loc) {
  Tile source = tile;
  if (source.form == Tile::Form::Splat) {
    source.extents = extents;
    return materialise(source, loc);
  }
  if (source.extents.rows == extents.rows && source.extents.cols == extents.cols)
    return source;
  Tile whole = source;
  whole.extents = extents;
  whole.form = extents.cols == 1 && extents.rows > 1 ? Tile::Form::Column : Tile::Form::Whole;
  whole.buffer = allocateLike(whole, loc);
  if (source.form == Tile::Form::Column || whole.form == Tile::Form::Column)
    emit(loc, InstructionId::TRowExpand, {columnView(source)}, {whole.buffer});
  else
    emit(loc, InstructionId::TColExpand, {source.buffer}, {whole.buffer});
  return whole;
}

} // namespace ptl::block
