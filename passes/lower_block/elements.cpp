// What has no instruction on whole tiles: rows that move by windows, and elements that the scalar
// unit moves one by one.
#include "passes/analysis/machine_types.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

// ---- positions ----------------------------------------------------------------------------------

ShapedTile KernelLowering::shaped(const Tile &tile, Type type) {
  ShapedTile result{tile, {}};
  for (const ir::Extent &extent : ir::extentsOf(type))
    result.lengths.push_back(lengthOf(extent));
  return result;
}

Value KernelLowering::plus(Value a, Value b) { return b_.createOrFold<arith::AddIOp>(loc_, a, b); }

Value KernelLowering::times(Value a, Value b) {
  if (matchPattern(a, m_Zero()) || matchPattern(b, m_One()))
    return a;
  if (matchPattern(b, m_Zero()) || matchPattern(a, m_One()))
    return b;
  return b_.createOrFold<arith::MulIOp>(loc_, a, b);
}

/// A number of any integer type as a position.
Value KernelLowering::asPosition(Value scalar) {
  Type type = scalar.getType();
  if (type.isIndex())
    return scalar;
  if (!type.isUnsignedInteger())
    return b_.createOrFold<arith::IndexCastOp>(loc_, b_.getIndexType(), scalar);
  Type word = b_.getIntegerType(type.getIntOrFloatBitWidth());
  Value plain = b_.create<UnrealizedConversionCastOp>(loc_, word, scalar).getResult(0);
  return b_.createOrFold<arith::IndexCastUIOp>(loc_, b_.getIndexType(), plain);
}

/// The row of the matrix that a tile is: rows of several axes lie one behind the other.
Value KernelLowering::rowAt(const ShapedTile &shape, Indices at) {
  Value row = constant(0);
  for (size_t axis = 0; axis + 1 < at.size(); ++axis)
    row = plus(times(row, shape.lengths[axis]), at[axis]);
  return row;
}

Value KernelLowering::elementOf(const ShapedTile &shape, Indices at) {
  if (at.empty())
    return constant(0);
  Value row = rowAt(shape, at);
  if (shape.tile.form == Form::Column)
    return row;
  auto type = cast<pto::TileBufType>(shape.tile.buffer.getType());
  return plus(times(row, constant(type.getCols())), at.back());
}

void KernelLowering::forEach(Indices lengths, llvm::function_ref<void(Indices)> body) {
  OpBuilder::InsertionGuard guard(b_);
  IndexVector at;
  for (Value length : lengths) {
    if (matchPattern(length, m_One())) {
      at.push_back(constant(0));
      continue;
    }
    auto loop = b_.create<scf::ForOp>(withoutName(loc_), constant(0), length, constant(1));
    at.push_back(loop.getInductionVar());
    b_.setInsertionPointToStart(loop.getBody());
  }
  body(at);
}

// ---- elements -----------------------------------------------------------------------------------

Value KernelLowering::readElement(const ShapedTile &shape, Indices at) {
  if (shape.tile.form == Form::Splat)
    return shape.tile.scalar;
  return b_.create<pto::TGetValOp>(loc_, shape.tile.element, shape.tile.buffer,
                                   elementOf(shape, at));
}

void KernelLowering::writeElement(const ShapedTile &shape, Indices at, Value value) {
  emit(loc_, InstructionId::TSetVal, {elementOf(shape, at), value}, {shape.tile.buffer});
}

// ---- rows ---------------------------------------------------------------------------------------

Value KernelLowering::window(Value buffer, Value row, Value col, int64_t rows, int64_t cols,
                             Value validRows, Value validCols) {
  auto whole = cast<pto::TileBufType>(buffer.getType());
  auto valid = [](Value length) {
    IntegerAttr number;
    return matchPattern(length, m_Constant(&number)) ? number.getInt() : pto::kDynamic;
  };
  auto type =
      pto::TileBufType::get(b_.getContext(), whole.getPlace(), rows, cols, whole.getElementType(),
                            valid(validRows), valid(validCols), whole.getLayout());
  return b_.create<pto::SubsetOp>(loc_, type, buffer, row, col,
                                  type.getValidRows() == pto::kDynamic ? validRows : Value(),
                                  type.getValidCols() == pto::kDynamic ? validCols : Value());
}

/// Whether parts of rows that begin at this column may be windows: those begin at whole blocks.
bool KernelLowering::movesInRows(const ShapedTile &shape, Value firstCol) const {
  IntegerAttr first;
  int64_t bytes = pto::elementBytes(shape.tile.element);
  return shape.tile.form == Form::Whole && matchPattern(firstCol, m_Constant(&first)) &&
         first.getInt() * bytes % machine_.limits.blockBytes == 0;
}

bool KernelLowering::takes(InstructionId id, llvm::ArrayRef<Type> types) const {
  std::vector<std::string> names;
  for (Type type : types)
    names.push_back(ir::machineTypeName(type));
  std::vector<std::string_view> views(names.begin(), names.end());
  return machine_.supports(instructionInfo(id).mnemonic, views);
}

void KernelLowering::whenInside(const Movement &movement, Indices at,
                                llvm::function_ref<void()> body) {
  if (!movement.isInside)
    return body();
  OpBuilder::InsertionGuard guard(b_);
  auto branch = b_.create<scf::IfOp>(loc_, movement.isInside(at), /*withElseRegion=*/false);
  b_.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

void KernelLowering::move(const ShapedTile &from, const ShapedTile &to, const Movement &movement,
                          Location loc) {
  loc_ = loc;
  if (movement.inRows)
    return moveRows(from, to, movement);
  forEach(movement.lengths, [&](Indices at) {
    whenInside(movement, at, [&] {
      Ends ends = movement.ends(at);
      writeElement(to, ends.to, readElement(from, ends.from));
    });
  });
}

/// Row by row, as words where the elements have no moves.
void KernelLowering::moveRows(const ShapedTile &from, const ShapedTile &to,
                              const Movement &movement) {
  Location loc = loc_;
  bool direct = takes(InstructionId::TMov, {to.tile.element});
  Type word = direct ? to.tile.element : Type(b_.getI32Type());
  int64_t perElement = pto::elementBytes(to.tile.element) / pto::elementBytes(word);
  Value source = wordsOf(from.tile.buffer, word), target = wordsOf(to.tile.buffer, word);
  Value length = times(movement.lengths.back(), constant(perElement));
  auto colsOf = [](Value buffer) { return cast<pto::TileBufType>(buffer.getType()).getCols(); };
  forEach(Indices(movement.lengths).drop_back(), [&](Indices outer) {
    IndexVector at(outer.begin(), outer.end());
    at.push_back(constant(0));
    whenInside(movement, at, [&] {
      Ends ends = movement.ends(at);
      auto firstCol = [&](Indices first) {
        IntegerAttr number;
        return matchPattern(first.back(), m_Constant(&number)) ? number.getInt() * perElement : 0;
      };
      int64_t cols =
          std::min(colsOf(source) - firstCol(ends.from), colsOf(target) - firstCol(ends.to));
      auto rowWindow = [&](const ShapedTile &shape, Value buffer, Indices first) {
        return window(buffer, rowAt(shape, first), times(first.back(), constant(perElement)), 1,
                      cols, constant(1), length);
      };
      emit(loc, InstructionId::TMov, {rowWindow(from, source, ends.from)},
           {rowWindow(to, target, ends.to)});
    });
  });
}

} // namespace ptl::block
