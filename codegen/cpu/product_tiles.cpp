// Which grids compute products whose tiles may grow, and the runtime's choice.
#include "codegen/cpu/product_tiles.h"

#include "codegen/cpu/elements.h"
#include "codegen/cpu/lower_product.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/op_info.h"

using namespace mlir;

namespace ptl::cpu {

// A tile whose elements are computed from sums goes by way of memory, which should stay in a cache. The last one will do: passes over
// sums are few, and larger tiles pack less of their operands again.
static constexpr int64_t kMostRows = 4096, kMostColumns = 4096;
static constexpr int64_t kMostRowsInBuffer = 560, kMostColumnsInBuffer = 1024;

arith::MinSIOp tileLengthOf(ir::ParallelOp op, size_t axis) {
  arith::MinSIOp found;
  for (Operation *user : op.getBody().getArgument(axis).getUsers()) {
    auto rest = dyn_cast<arith::SubIOp>(user);
    if (!rest || rest->getBlock() != &op.getBody().front() ||
        rest.getLhs() != op.getUpper()[axis] || rest.getRhs() != op.getBody().getArgument(axis))
      continue;
    for (Operation *length : rest->getUsers()) {
      auto least = dyn_cast<arith::MinSIOp>(length);
      // Any other use of the rest would see that the tile has grown.
      if (!least || least->getBlock() != rest->getBlock() || found)
        return {};
      if (least.getLhs() != rest || least.getRhs() != op.getSteps()[axis])
        return {};
      found = least;
    }
  }
  return found;
}

// Whether the last two axes of a product's result are those of the tile. Lengths with such names are those of tiles that were made of
// whole arrays: names in the source have no dot.
static bool isTile(ir::MatmulOp product, ArrayRef<int64_t> steps) {
  ArrayRef<ir::Extent> extents = ir::extentsOf(product.getResult().getType());
  if (extents.size() < 2)
    return false;
  for (auto [extent, step] : llvm::zip(extents.take_back(2), steps))
    if (extent.capacity != step || !extent.symbol || !extent.symbol.getValue().contains('.'))
      return false;
  return true;
}

// Whether an operation computes nothing, or sums in place.
static bool needsNoBuffer(Operation *op) {
  if (isa<ir::SliceOp, ir::LoadOp, ir::StoreOp, ir::TransposeOp, ir::MatmulOp, ir::YieldOp>(op))
    return true;
  Value base;
  Operation *product;
  return isProductInto(op, base, product) ||
         llvm::none_of(op->getResultTypes(), [](Type type) { return isa<ir::ArrayType>(type); });
}

// Larger tiles compute the same: each element of the body's arrays belongs to one element of the tile, or to one of its rows or
// columns as an operand of a product.
static bool mayGrow(Operation *op) {
  const OpRecord *record = ir::recordOf(op);
  if (op->getNumRegions() != 0)
    return false;
  // Operations without a record are arithmetic of positions, which costs the same for any tile.
  if (!record)
    return true;
  switch (record->opClass) {
  case OpClass::Elementwise:
  case OpClass::Comparison:
  case OpClass::Select:
  case OpClass::Product:
  case OpClass::Shape:
  case OpClass::Conversion:
  case OpClass::Creation:
    return true;
  default:
    return false;
  }
}

namespace {
/// A grid of products.
struct ProductGrid {
  std::array<arith::MinSIOp, 2> lengths; ///< of a tile
  std::array<int64_t, 2> least;
  bool usesBuffer = false, hasProduct = false;
};
} // namespace

// Whether a body may have larger tiles. Loops over products go through the same rounds for each.
static bool takesOps(ProductGrid &grid, Block &body) {
  return llvm::all_of(body.without_terminator(), [&](Operation &inner) {
    if (auto loop = dyn_cast<scf::ForOp>(inner)) {
      grid.usesBuffer = true;
      return takesOps(grid, *loop.getBody());
    }
    // Index notation may have the axes of the tile in any place.
    if (!mayGrow(&inner) || isa<ir::EinsumOp>(inner))
      return false;
    grid.usesBuffer |= !needsNoBuffer(&inner);
    auto product = dyn_cast<ir::MatmulOp>(inner);
    if (product && !isTile(product, grid.least))
      return false;
    grid.hasProduct |= static_cast<bool>(product);
    return true;
  });
}

static std::optional<ProductGrid> productGrid(ir::ParallelOp op) {
  size_t rank = op.getSteps().size();
  if (rank < 2 || attrs::tiled.isOn(op))
    return std::nullopt;
  ProductGrid grid;
  for (size_t i = 0; i < 2; ++i) {
    size_t axis = rank - 2 + i;
    auto step = op.getSteps()[axis].getDefiningOp<arith::ConstantIndexOp>();
    grid.lengths[i] = tileLengthOf(op, axis);
    auto lower = op.getLower()[axis].getDefiningOp<arith::ConstantIndexOp>();
    // The runtime chooses among multiples of a constant step that begin at 0.
    if (!step || step.value() <= 1 || !lower || lower.value() != 0 || !grid.lengths[i])
      return std::nullopt;
    grid.least[i] = step.value();
  }
  if (!takesOps(grid, op.getBody().front()) || !grid.hasProduct)
    return std::nullopt;
  return grid;
}

void chooseProductTiles(Lowering &l, ir::ParallelOp op, SmallVectorImpl<Value> &steps) {
  std::optional<ProductGrid> grid = productGrid(op);
  if (!grid)
    return;
  const Emit &e = l.e;
  Type i64 = e.b.getI64Type();
  size_t rank = steps.size();
  Value count = l.index(1);
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    Value span = e.sub(scalarOf(l, op.getUpper()[axis]), scalarOf(l, op.getLower()[axis]));
    // The other axes of the grid give tiles to threads as well.
    span = e.b.createOrFold<arith::MaxSIOp>(e.loc, span, l.index(0));
    count = e.mul(count, span);
  }
  auto number = [&](Value value) { return e.indexCast(value, i64); };
  Value limits = stackBuffer(e, i64, 4), tile = stackBuffer(e, i64, 2);
  // The limits must not be below the step that the grid has already.
  int64_t most[] = {grid->usesBuffer ? kMostRowsInBuffer : kMostRows,
                    grid->usesBuffer ? kMostColumnsInBuffer : kMostColumns};
  int64_t numbers[] = {grid->least[0], grid->least[1], std::max(most[0], grid->least[0]),
                       std::max(most[1], grid->least[1])};
  for (auto [i, value] : llvm::enumerate(numbers))
    storeRaw(e, elementPointer(e, limits, i64, l.index(static_cast<int64_t>(i))), e.i64(value));
  e.call("ptl_rt_product_tile", {},
         {l.context, number(scalarOf(l, op.getUpper()[rank - 2])),
          number(scalarOf(l, op.getUpper()[rank - 1])), number(count), limits, tile});
  for (size_t i = 0; i < 2; ++i) {
    Value chosen =
        loadRaw(e, elementPointer(e, tile, i64, l.index(static_cast<int64_t>(i))), i64, 0);
    steps[rank - 2 + i] = e.indexCast(chosen, e.b.getIndexType());
  }
}

void settleTileLengths(Lowering &l, ir::ParallelOp op, ArrayRef<Value> steps) {
  const Emit &e = l.e;
  for (auto [axis, step] : llvm::enumerate(steps)) {
    // Where the step is that of the grid, the length is computed where it stands.
    if (step == scalarOf(l, op.getSteps()[axis]))
      continue;
    arith::MinSIOp length = tileLengthOf(op, axis);
    if (!length)
      continue;
    Value rest = e.sub(scalarOf(l, op.getUpper()[axis]),
                       scalarOf(l, op.getBody().getArgument(static_cast<unsigned>(axis))));
    l.bindScalar(length, e.b.createOrFold<arith::MinSIOp>(e.loc, rest, step));
    // The operation itself uses the old step, so it must not be lowered.
    l.settled.insert(length);
  }
}

} // namespace ptl::cpu
