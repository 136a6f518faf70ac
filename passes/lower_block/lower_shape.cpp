// Constants, positions, and other views of a value: what either side of a mixed kernel may make for
// itself.
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

bool KernelLowering::lowerShared(Operation *op) {
  if (isa<ir::ZerosOp, ir::OnesOp, ir::FullOp>(op))
    return lowerSplat(op), true;
  if (isa<ir::IndexOp>(op)) {
    if (core_ == CoreKind::Vector)
      lowerIndex(op);
    return true;
  }
  bool isView = isa<ir::NewAxisOp, ir::CastOp, ir::ReshapeOp, ir::TransposeOp>(op);
  if (isView && core_ == CoreKind::Cube &&
      (isHanded(op) || !isUsedOnCube(op->getResult(0), cores_)))
    return bindLengths(op), true; // it is of what the vector cores have
  if (isa<ir::NewAxisOp, ir::CastOp, ir::ReshapeOp>(op))
    return lowerView(op), true;
  if (isa<ir::TransposeOp>(op))
    return lowerTranspose(op), true;
  if (isa<ir::BroadcastOp>(op) && core_ == CoreKind::Vector)
    return lowerBroadcast(op), true;
  return false;
}

void KernelLowering::lowerSplat(Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<ir::ArrayType>(result.getType());
  llvm::SmallVector<Value> lengths;
  unsigned next = 0;
  for (const ir::Extent &extent : type.getExtents())
    if (!extent.isConstant() && next < op->getNumOperands())
      lengths_[extent.symbol] = dealt(scalarOf(op->getOperand(next++)), extent);
  if (core_ == CoreKind::Cube)
    return;
  Tile tile;
  std::optional<Extents2> extents = extentsOf(op, type);
  if (!extents)
    return;
  tile.form = Form::Splat;
  tile.extents = *extents;
  tile.element = type.getElementType();
  tile.scalar = isa<ir::FullOp>(op) ? scalarOf(op->getOperands().back())
                                    : constantOf(tile.element, isa<ir::OnesOp>(op) ? 1 : 0);
  if (!tile.scalar)
    return fail(op, "a scalar that another core computes");
  setTile(result, tile);
}

/// `index(r)`: the positions of a range, as a row. The row serves as a column, too.
void KernelLowering::lowerIndex(Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<ir::ArrayType>(result.getType());
  const ir::Extent &extent = type.getExtents()[0];
  Value start = scalarOf(op->getOperand(0));
  if (!extent.isConstant()) {
    bool isDealt = core_ == CoreKind::Vector && cores_.deals(extent.symbol);
    lengths_[extent.symbol] = dealt(scalarOf(op->getOperand(1)), extent);
    if (isDealt)
      start = b_.createOrFold<arith::AddIOp>(
          loc_, start,
          b_.createOrFold<arith::MulIOp>(loc_, subblock_, constant(capacityOf(extent))));
  }
  std::optional<Tile> tile = resultTile(op);
  if (!tile)
    return;
  tile->form = Form::Whole;
  tile->buffer = allocateLike(*tile, op->getLoc());
  Value first = b_.createOrFold<arith::IndexCastOp>(loc_, tile->element, start);
  emit(op->getLoc(), InstructionId::TCi, {first}, {tile->buffer},
       {b_.getNamedAttr("descending", b_.getBoolAttr(false))});
  setTile(result, *tile);
}

/// Another shape of the same elements in the same order.
void KernelLowering::lowerView(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  const Tile *found = tileOf(source);
  if (!found) {
    if (core_ == CoreKind::Vector && isUsedOnVector(result, cores_))
      fail(op, "this value");
    return;
  }
  bindLengths(op);
  if (core_ == CoreKind::Cube && found->form == Form::Memory) // loaded piece by piece, as a matrix
    return setTile(result, Tile(*found));
  std::optional<Extents2> extents = extentsOf(op, result.getType());
  if (!extents)
    return;
  Tile tile = *found;
  if (tile.form == Form::Memory)
    tile = materialise(tile, op->getLoc());
  bool sameMatrix = tile.extents.rows == extents->rows && tile.extents.cols == extents->cols;
  if (sameMatrix || tile.form == Form::Splat) {
    tile.extents = *extents;
    return setTile(result, tile);
  }
  bool line = tile.form == Form::Whole && tile.extents.rows == 1; // a row becomes a column
  bool toColumn = extents->cols == 1 && extents->rows == tile.extents.cols;
  if (line && toColumn) {
    tile.form = Form::Column;
    tile.extents = *extents;
    return setTile(result, tile);
  }
  bool toRow =
      tile.form == Form::Column && extents->rows == 1 && extents->cols == tile.extents.rows;
  if (toRow) {
    tile.form = Form::Whole;
    tile.extents = *extents;
    return setTile(result, tile);
  }
  auto buffer = tile.buffer ? cast<pto::TileBufType>(tile.buffer.getType()) : pto::TileBufType();
  bool dense =
      buffer && tile.form == Form::Whole && buffer.getCols() == tile.extents.cols && !dynamicValid_;
  Tile shaped = tile;
  shaped.extents = *extents;
  auto wanted = allocateType(shaped);
  if (!dense || wanted.getCols() != extents->cols || wanted.getBytes() != buffer.getBytes())
    return lowerReshape(op);
  shaped.buffer = reshape(tile.buffer, wanted, extents->validRows, extents->validCols);
  setTile(result, shaped);
}

void KernelLowering::lowerTranspose(Operation *op) {
  Value result = op->getResult(0);
  const Tile *found = tileOf(op->getOperand(0));
  if (!found) {
    if (core_ == CoreKind::Vector && isUsedOnVector(result, cores_))
      fail(op, "this value");
    return;
  }
  if (core_ == CoreKind::Cube) {
    Tile tile = *found; // products read it as it is staged, or under another layout
    std::swap(tile.extents.rows, tile.extents.cols);
    std::swap(tile.extents.validRows, tile.extents.validCols);
    tile.transposed = !tile.transposed;
    return setTile(result, tile);
  }
  std::optional<Tile> out = resultTile(op);
  if (!out)
    return;
  if (found->form == Form::Splat) {
    Tile splat = *found;
    splat.extents = out->extents;
    return setTile(result, splat);
  }
  Tile source = materialise(*found, op->getLoc());
  bool matrix = ir::rankOf(result.getType()) <= 2;
  if (!matrix)
    return lowerPermutation(op);
  if (source.form == Form::Column ||
      source.extents.rows == 1) { // the same elements in the same order
    Tile line = source;
    line.form = out->form;
    line.extents = out->extents;
    return setTile(result, line);
  }
  if (!takes(InstructionId::TTrans, {source.element}))
    return lowerPermutation(op);
  out->buffer = allocateLike(*out, op->getLoc());
  emit(op->getLoc(), InstructionId::TTrans, {source.buffer, allocateLike(source, op->getLoc())},
       {out->buffer});
  setTile(result, *out);
}

void KernelLowering::lowerBroadcast(Operation *op) {
  bindLengths(op);
  std::optional<Tile> in = operandTile(op, op->getOperand(0));
  if (!in)
    return;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  setTile(op->getResult(0), spread(*in, from, to, op));
}

} // namespace ptl::block
