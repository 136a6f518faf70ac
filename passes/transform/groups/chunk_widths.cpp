// Tiles of columns that turn out to be narrow, where their length is not known. A tile of wide ones
// has a few rows, of which narrow columns would leave most empty; theirs has many.
#include "passes/transform/groups/chunk_pieces.h"

#include "ir/dialect/attributes.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

/// As many columns are narrow: those of a head, and what fits a quarter of a tile of wide ones.
static constexpr int64_t kNarrow = 128;
/// Code grows by an arm for each grid, of which long programs get no more than these.
static constexpr unsigned kNarrowGrids = 8;

void PiecesEmitter::mark(ParallelOp grid) {
  attrs::tileGroup.set(grid, static_cast<int64_t>(tileGroupOf(number_, narrow_ != kWhole)));
}

/// The axis of the tiles' rows or columns; `kWhole` if they have none.
int64_t PiecesEmitter::axisOf(TileAxis::Role role) const {
  for (size_t i = 0; i < group_->numAxes(); ++i)
    if (auto id = static_cast<int64_t>(i); group_->find(id) == id && axis(id).role == role)
      return id;
  return kWhole;
}

/// Whether the tiles are of a few rows for the reason alone that columns may be many.
bool PiecesEmitter::mayBeNarrow(int64_t row, int64_t col) const {
  if (!machine_ || groups_.size() != 1 || group_->hasProduct() || number_ >= kNarrowGrids ||
      row == kWhole || col == kWhole || scheduledStep(*group_, row) || scheduledStep(*group_, col))
    return false;
  // What does not fit is halved, which changes no decision.
  return axis(row).isChunked && axis(col).isChunked && axis(col).step << halvings_ >= 2 * kNarrow &&
         group_->axis(col).extent.capacity == Extent::kUnknown;
}

/// Whether a length is a dimension of the entry, which a kernel of narrow columns can say a bound of.
static bool isDim(Value length) {
  auto dim = length.getDefiningOp<DimOp>();
  auto of = dyn_cast<BlockArgument>(dim ? Value(dim.getSource()) : length);
  auto function = of ? dyn_cast<func::FuncOp>(of.getOwner()->getParentOp()) : func::FuncOp();
  return function && (dim || attrs::dim.of(function, of.getArgNumber()));
}

/// Whether columns are narrow and rows so many that fewer tiles leave no core idle; null: never.
Value PiecesEmitter::isWorthNarrowing(int64_t row, int64_t col) {
  if (!isDim(axis(col).length) || !isProductOfDims(axis(row).length))
    return {};
  llvm::SmallVector<int64_t> others = gridAxes();
  llvm::erase(others, col);
  // Rows that one point of the grid folds are in pieces where they are many.
  if (others.empty())
    return {};
  if (!llvm::is_contained(others, row))
    others.push_back(row);
  Value rows = constant(1);
  for (int64_t id : others)
    if (isProductOfDims(axis(id).length))
      rows = b_.createOrFold<arith::MulIOp>(loc_, rows, axis(id).length);
  // Each core has two tiles of wide columns, then.
  constexpr int64_t kFewRows = 8;
  int64_t least = 2 * kFewRows * vectorCoresOf(*machine_);
  Value isMany =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge, rows, constant(least));
  if (getConstantIntValue(isMany) == 0)
    return {};
  Value isFew = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, axis(col).length,
                                               constant(kNarrow));
  return b_.createOrFold<arith::AndIOp>(loc_, isFew, isMany);
}

/// Columns come whole, and as many rows as the bytes of a tile of wide ones hold.
void PiecesEmitter::narrowTiles(int64_t row, int64_t col) {
  TileAxis &rows = axis(row), &cols = axis(col);
  // Tiles that are halved often keep a least width, which says nothing of the usual one.
  int64_t usual = std::min(rows.step * cols.step << halvings_, sizes_.bytes / 4);
  int64_t elements = usual >> narrowHalvings_;
  rows.step = std::max<int64_t>(elements / kNarrow, 1);
  if (int64_t most = group_->axis(row).extent.capacity; most != Extent::kUnknown)
    rows.step = std::min(rows.step, most);
  cols.step = kNarrow;
  cols.isChunked = false;
  cols.position = constant(0);
  cols.extent = Extent::named(b_.getStringAttr(tileName(col)), kNarrow);
}

/// The length of narrow columns is computed where a point of the grid is, as that of other tiles.
void PiecesEmitter::emitGroup(llvm::ArrayRef<StoreOp> into) {
  if (narrow_ != kWhole) {
    TileAxis &cols = axis(narrow_);
    cols.tile = b_.createOrFold<arith::MinSIOp>(loc_, cols.length, constant(kNarrow));
  }
  ChunkEmitter::emitGroup(into);
}

void PiecesEmitter::emitByWidth(llvm::ArrayRef<RootStores> stores) {
  int64_t row = axisOf(TileAxis::Row), col = axisOf(TileAxis::Col);
  // Tiles of all columns are seen to fill only what nothing else writes, and whole.
  StoreOp into = stores.front().front();
  bool isSeenWhole =
      into.getDropped().empty() && llvm::none_of(into.getRef().getUsers(), [&](Operation *user) {
        bool writes = isa<StoreOp>(user) && user != into;
        return writes && !(branch_ && branch_->isAncestor(user));
      });
  isSeenWhole &=
      llvm::equal(ir::extentsOf(into.getRef().getType()), ir::extentsOf(into.getValue().getType()));
  Value worthIt = isSeenWhole && mayBeNarrow(row, col) ? isWorthNarrowing(row, col) : Value();
  if (!worthIt)
    return emitGrid(stores);
  std::vector<TileAxis> wide = axes_;
  Location loc = loc_;
  auto branch = b_.create<scf::IfOp>(loc_, worthIt, /*withElseRegion=*/true);
  // Within a branch by pieces, the outer branch is the one that stands in the block of the loads.
  if (!branch_)
    branch_ = branch;
  b_.setInsertionPointToStart(branch.thenBlock());
  narrowTiles(row, col);
  narrow_ = col;
  emitGrid(stores);
  narrow_ = kWhole;
  b_.setInsertionPointToStart(branch.elseBlock());
  loc_ = loc;
  axes_ = wide;
  emitGrid(stores);
}

} // namespace ptl::ir
