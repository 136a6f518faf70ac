// Constants, positions, and other views of a value: what either side of a mixed kernel may make for
// itself.
#include "passes/lower_block/lower_shape.h"
#include "frontend/base/round_up.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/reorder_elements.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

/// The scratch of a transposition, which goes by whole blocks: 32 bytes of a row, and 16 rows, or 32
/// of bytes.
static Value transposingScratch(KernelContext &c, const Tile &source, Location loc) {
  int64_t bytes = pto::elementBytes(source.element);
  Tile scratch = source;
  int64_t rows = roundUp(source.extents.cols, 32 / bytes),
          cols = roundUp(source.extents.rows, bytes == 1 ? 32 : 16);
  scratch.form = Form::Whole;
  scratch.extents = {rows, cols, constant(c, rows), constant(c, cols)};
  return allocateLike(c, scratch, loc);
}

static void lowerSplat(KernelContext &c, Operation *op);
static void lowerIndex(KernelContext &c, Operation *op);
static void lowerTranspose(KernelContext &c, Operation *op);
static void lowerBroadcast(KernelContext &c, Operation *op);

bool isShared(Operation *op) {
  return isa<ir::ZerosOp, ir::OnesOp, ir::FullOp, ir::IndexOp, ir::NewAxisOp, ir::CastOp,
             ir::ReshapeOp, ir::TransposeOp, ir::BroadcastOp>(op);
}

bool lowerShared(KernelContext &c, Operation *op) {
  if (isa<ir::ZerosOp, ir::OnesOp, ir::FullOp>(op))
    return lowerSplat(c, op), true;
  if (isa<ir::IndexOp>(op)) {
    if (c.core == CoreKind::Vector)
      lowerIndex(c, op);
    return true;
  }
  bool isView = isa<ir::NewAxisOp, ir::CastOp, ir::ReshapeOp, ir::TransposeOp>(op);
  if (isView && c.core == CoreKind::Cube &&
      (isHanded(op) || !isUsedOnCube(op->getResult(0), c.cores)))
    return bindLengths(c, op), true; // it is of what the vector cores have
  if (isa<ir::NewAxisOp, ir::CastOp, ir::ReshapeOp>(op))
    return lowerView(c, op), true;
  if (isa<ir::TransposeOp>(op))
    return lowerTranspose(c, op), true;
  if (isa<ir::BroadcastOp>(op) && c.core == CoreKind::Vector)
    return lowerBroadcast(c, op), true;
  return false;
}

static void lowerSplat(KernelContext &c, Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<ir::ArrayType>(result.getType());
  bindLengths(c, op);
  // Products read no splats; only the lengths are of use here.
  if (c.core == CoreKind::Cube)
    return;
  Tile tile;
  std::optional<Extents2> extents = tileExtentsOf(c, op, type);
  if (!extents)
    return;
  tile.form = Form::Splat;
  tile.extents = *extents;
  tile.element = type.getElementType();
  tile.scalar = isa<ir::FullOp>(op) ? scalarOf(c, op->getOperands().back())
                                    : constantOf(c, tile.element, isa<ir::OnesOp>(op) ? 1 : 0);
  if (!tile.scalar)
    return fail(c, op, "a scalar that another core computes");
  setTile(c, result, tile);
}

/// `index(r)`: the positions of a range, as a row. The row serves as a column, too.
static void lowerIndex(KernelContext &c, Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<ir::ArrayType>(result.getType());
  const ir::Extent &extent = type.getExtents()[0];
  Value start = scalarOf(c, op->getOperand(0));
  if (!extent.isConstant()) {
    bool isDealt = c.core == CoreKind::Vector && c.cores.deals(extent.symbol);
    bindLengths(c, op);
    if (isDealt)
      // The second vector core counts from its own first row.
      start = c.b.createOrFold<arith::AddIOp>(
          c.loc, start,
          c.b.createOrFold<arith::MulIOp>(c.loc, c.subblock, constant(c, capacityOf(c, extent))));
  }
  std::optional<Tile> tile = resultTile(c, op);
  if (!tile)
    return;
  tile->form = Form::Whole;
  tile->buffer = allocateLike(c, *tile, op->getLoc());
  // The instruction counts in the element type of the tile.
  Value first = c.b.createOrFold<arith::IndexCastOp>(c.loc, tile->element, start);
  emit(c, op->getLoc(), InstructionId::TCi, {first}, {tile->buffer},
       {c.b.getNamedAttr("descending", c.b.getBoolAttr(false))});
  setTile(c, result, *tile);
}

/// Whether the elements of a tile lie one behind the other: its rows are as long as they are at most.
static bool rowsFollow(const Extents2 &extents) {
  IntegerAttr length;
  return extents.rows == 1 ||
         (matchPattern(extents.validCols, m_Constant(&length)) && length.getInt() == extents.cols);
}

/// Whether the same bytes are the elements of both shapes in row-major order. Rows of equal capacity
/// may hold different numbers of elements, as those of `[C, D]` reshaped to `[D, C]` do.
static bool isSameMatrix(const Extents2 &from, const Extents2 &to, bool isReshaped) {
  if (from.rows != to.rows || from.cols != to.cols)
    return false;
  IntegerAttr a, b;
  return !isReshaped || from.rows == 1 || from.cols == 1 || from.validCols == to.validCols ||
         (matchPattern(from.validCols, m_Constant(&a)) &&
          matchPattern(to.validCols, m_Constant(&b)) && a == b);
}

void lowerView(KernelContext &c, Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  const Tile *found = tileOf(c, source);
  bindLengths(c, op);
  if (!found) {
    if (c.core == CoreKind::Vector && isUsedOnVector(result, c.cores))
      fail(c, op, "this value");
    return;
  }
  if (c.core == CoreKind::Cube && found->form == Form::Memory) // loaded piece by piece, as a matrix
    return setTile(c, result, Tile(*found));
  std::optional<Extents2> extents = tileExtentsOf(c, op, result.getType());
  if (!extents)
    return;
  Tile tile = *found;
  if (tile.form == Form::Memory)
    tile = materialise(c, tile, op->getLoc());
  // Tiles are matrices, so most changes of shape at this level change nothing in memory.
  bool sameMatrix = isSameMatrix(tile.extents, *extents, isa<ir::ReshapeOp>(op));
  // Leading axes of 1 change nothing about rows and columns.
  if (sameMatrix || tile.form == Form::Splat) {
    tile.extents = *extents;
    return setTile(c, result, tile);
  }
  bool line = tile.form == Form::Whole && tile.extents.rows == 1; // a row becomes a column
  bool toColumn = extents->cols == 1 && extents->rows == tile.extents.cols;
  if (line && toColumn) {
    tile.form = Form::Column;
    tile.extents = *extents;
    return setTile(c, result, tile);
  }
  bool toRow =
      tile.form == Form::Column && extents->rows == 1 && extents->cols == tile.extents.rows;
  if (toRow) {
    tile.form = Form::Whole;
    tile.extents = *extents;
    return setTile(c, result, tile);
  }
  auto buffer = tile.buffer ? cast<pto::TileBufType>(tile.buffer.getType()) : pto::TileBufType();
  // Without padding between rows the elements of both shapes lie in the same order.
  bool dense = buffer && tile.form == Form::Whole && buffer.getCols() == tile.extents.cols &&
               !c.dynamicValid && rowsFollow(tile.extents) && rowsFollow(*extents);
  Tile shaped = tile;
  shaped.extents = *extents;
  auto wanted = allocateType(c, shaped);
  // A view of the same bytes would show the padding as elements, so elements are moved.
  if (!dense || wanted.getCols() != extents->cols || wanted.getBytes() != buffer.getBytes())
    return lowerReshape(c, op);
  shaped.buffer = reshape(c, tile.buffer, wanted, extents->validRows, extents->validCols);
  setTile(c, result, shaped);
}

static void lowerTranspose(KernelContext &c, Operation *op) {
  Value result = op->getResult(0);
  const Tile *found = tileOf(c, op->getOperand(0));
  // The value may be one that only the other core has.
  if (!found) {
    if (c.core == CoreKind::Vector && isUsedOnVector(result, c.cores))
      fail(c, op, "this value");
    return;
  }
  if (c.core == CoreKind::Cube) {
    Tile tile = *found; // products read it as it is staged, or under another layout
    std::swap(tile.extents.rows, tile.extents.cols);
    std::swap(tile.extents.validRows, tile.extents.validCols);
    tile.transposed = !tile.transposed;
    return setTile(c, result, tile);
  }
  std::optional<Tile> out = resultTile(c, op);
  if (!out)
    return;
  // The same number everywhere is its own transpose; only the lengths change places.
  if (found->form == Form::Splat) {
    Tile splat = *found;
    splat.extents = out->extents;
    return setTile(c, result, splat);
  }
  Tile source = materialise(c, *found, op->getLoc());
  // The instruction swaps rows and columns of one matrix; leading axes are rows of the tile, too.
  bool matrix = ir::rankOf(result.getType()) <= 2;
  if (!matrix)
    return lowerPermutation(c, op);
  if (source.form == Form::Column ||
      source.extents.rows == 1) { // the same elements in the same order
    Tile line = source;
    line.form = out->form;
    line.extents = out->extents;
    return setTile(c, result, line);
  }
  // Without the instruction elements are moved one by one.
  if (!takes(c, InstructionId::TTrans, {source.element}))
    return lowerPermutation(c, op);
  out->buffer = allocateLike(c, *out, op->getLoc());
  emit(c, op->getLoc(), InstructionId::TTrans,
       {source.buffer, transposingScratch(c, source, op->getLoc())}, {out->buffer});
  setTile(c, result, *out);
}

static void lowerBroadcast(KernelContext &c, Operation *op) {
  bindLengths(c, op);
  std::optional<Tile> in = operandTile(c, op, op->getOperand(0));
  if (!in)
    return;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  setTile(c, op->getResult(0), spread(c, *in, from, to, op));
}

} // namespace ptl::block
