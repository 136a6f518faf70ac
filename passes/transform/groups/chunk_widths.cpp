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

/// As many columns are narrow: those of a head, which fit a quarter of a tile of wide ones, and those of
/// points, boxes and the like, a quarter of these.
static constexpr int64_t kNarrow[PiecesEmitter::kWidths] = {0, 128, 32};
/// A tile of wide columns has as many rows.
static constexpr int64_t kFewRows = 8;
/// Code grows by an arm for each grid that may have narrow columns, of which long programs get no more than these.
static constexpr unsigned kNarrowGrids = 8;

void PiecesEmitter::mark(ParallelOp grid) {
  attrs::tileGroup.set(grid, static_cast<int64_t>(tileGroupOf(number_, width_)));
}

/// The axis of the tiles' rows or columns; `kWhole` if they have none.
int64_t PiecesEmitter::axisOf(TileAxis::Role role) const {
  for (size_t i = 0; i < group_->numAxes(); ++i)
    if (auto id = static_cast<int64_t>(i); group_->find(id) == id && axis(id).role == role)
      return id;
  return kWhole;
}

/// Whether the tiles are of a few rows for the reason alone that columns may be many.
bool PiecesEmitter::mayBeNarrow(int64_t row, int64_t col, unsigned width) const {
  bool isFull = number_ >= kNarrowGrids || (width == 0 && arms_.widths >= kNarrowGrids);
  if (!machine_ || group_->hasProduct() || isFull || row == kWhole || col == kWhole ||
      scheduledStep(*group_, row) || scheduledStep(*group_, col))
    return false;
  // What does not fit is halved, which changes no decision.
  return axis(row).isChunked && axis(col).isChunked &&
         axis(col).step << halvings_ >= 2 * kNarrow[1] &&
         group_->axis(col).extent.capacity == Extent::kUnknown;
}

/// Whether a length is a dimension of the entry, or some more or fewer, which a kernel of narrow columns
/// can say a bound of.
static bool isNearDim(Value length) {
  if (Operation *sum = length.getDefiningOp(); isa_and_nonnull<arith::AddIOp, arith::SubIOp>(sum))
    return getConstantIntValue(sum->getOperand(1)) && isNearDim(sum->getOperand(0));
  auto dim = length.getDefiningOp<DimOp>();
  auto of = dyn_cast<BlockArgument>(dim ? Value(dim.getSource()) : length);
  auto function = of ? dyn_cast<func::FuncOp>(of.getOwner()->getParentOp()) : func::FuncOp();
  return function && (dim || attrs::dim.of(function, of.getArgNumber()));
}

/// Elements of a tile of narrow columns; those that did not fit have been halved.
int64_t PiecesEmitter::narrowElements(int64_t row, int64_t col) const {
  // Tiles that are halved often keep a least width, which says nothing of the usual one.
  return std::min(axis(row).step * axis(col).step << halvings_, sizes_.bytes / 4);
}

/// Whether columns are that narrow and rows so many that fewer tiles leave no core idle; null: never.
Value PiecesEmitter::isWorthNarrowing(int64_t row, int64_t col, unsigned width) {
  auto isPlain = [&](int64_t id) {
    return isProductOfDims(axis(id).length) || isNearDim(axis(id).length);
  };
  if (!isNearDim(axis(col).length) || !isPlain(row))
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
    if (isPlain(id))
      rows = b_.createOrFold<arith::MulIOp>(loc_, rows, axis(id).length);
  // Each core has two tiles of wider columns, then.
  int64_t ofWider = width == 1 ? kFewRows : narrowElements(row, col) / kNarrow[width - 1];
  int64_t least = 2 * ofWider * vectorCoresOf(*machine_);
  Value isMany =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge, rows, constant(least));
  if (getConstantIntValue(isMany) == 0)
    return {};
  Value isFew = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, axis(col).length,
                                               constant(kNarrow[width]));
  return b_.createOrFold<arith::AndIOp>(loc_, isFew, isMany);
}

/// Columns come whole, and as many rows as the bytes of a tile of wide ones hold.
void PiecesEmitter::narrowTiles(int64_t row, int64_t col, unsigned width) {
  TileAxis &rows = axis(row), &cols = axis(col);
  int64_t elements = narrowElements(row, col) >> halvingsOf_[width];
  rows.step = std::max<int64_t>(elements / kNarrow[width], 1);
  if (int64_t most = group_->axis(row).extent.capacity; most != Extent::kUnknown)
    rows.step = std::min(rows.step, most);
  cols.step = kNarrow[width];
  cols.isChunked = false;
  cols.position = constant(0);
  cols.extent = Extent::named(b_.getStringAttr(tileName(col)), kNarrow[width]);
}

/// The length of narrow columns is computed where a point of the grid is, as that of other tiles.
void PiecesEmitter::emitGroup(llvm::ArrayRef<StoreOp> into) {
  if (width_ > 0) {
    TileAxis &cols = axis(axisOf(TileAxis::Col));
    cols.tile = b_.createOrFold<arith::MinSIOp>(loc_, cols.length, constant(kNarrow[width_]));
  }
  ChunkEmitter::emitGroup(into);
}

/// Whether other stores fill other boxes of the storage. Then no store alone is seen to fill it, and its text as source begins with zeros where
/// the boxes come by branches.
static bool isOneOfSeveral(StoreOp into, Operation *branch) {
  return llvm::any_of(into.getRef().getUsers(), [&](Operation *user) {
    return isa<StoreOp>(user) && user != into && !(branch && branch->isAncestor(user));
  });
}

/// Whether tiles of all columns are seen to fill the storage: nothing else writes it, and the store has all of it. The text of the
/// grids as source would not be proved to write every element otherwise.
static bool isSeenWhole(StoreOp into, Operation *branch) {
  return !isOneOfSeveral(into, branch) && into.getDropped().empty() &&
         llvm::equal(ir::extentsOf(into.getRef().getType()),
                     ir::extentsOf(into.getValue().getType()));
}

/// Whether a value is a part of an array, or a constant.
static bool isCopied(Value value) {
  Operation *made = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(made))
    return isCopied(cast.getOperand());
  return !made || isa<SliceOp, LoadOp, FullOp>(made);
}

/// Whether storage is put together from parts of arrays and constants. Its text as source begins with zeros where the parts come by
/// branches, which costs less than rows of a few columns do.
static bool holdsCopies(Value ref) {
  return llvm::all_of(ref.getUsers(), [](Operation *user) {
    auto store = dyn_cast<StoreOp>(user);
    return !store || isCopied(store.getValue());
  });
}

/// Whether storage is put together once, from parts of one shape, all of which come by the same branches: then its text as source is seen to
/// fill it in each arm.
static bool isOfEqualParts(StoreOp into) {
  Operation *whole = into->getParentOp();
  return isa<func::FuncOp>(whole) && llvm::all_of(into.getRef().getUsers(), [&](Operation *user) {
           auto store = dyn_cast<StoreOp>(user);
           if (!store)
             return true;
           bool isAhead = store->getParentOp() == whole;
           return isAhead ? extentsOf(store.getValue().getType()) ==
                                extentsOf(into.getValue().getType())
                          : store->getParentOfType<scf::IfOp>() != nullptr;
         });
}

/// The grid for columns that are known to have the width, or a grid in each arm of a branch where they may
/// be narrower.
void PiecesEmitter::emitByWidth(llvm::ArrayRef<RootStores> stores, unsigned width) {
  int64_t row = axisOf(TileAxis::Row), col = axisOf(TileAxis::Col);
  bool isFilled = llvm::all_of(stores, [&](const RootStores &each) {
    StoreOp into = each.front();
    // Within a branch boxes are not seen to fill the storage either way.
    bool isBox = into->getParentOfType<scf::IfOp>() && isOneOfSeveral(into, branch_);
    return isSeenWhole(into, branch_) || isBox || isOfEqualParts(into) ||
           holdsCopies(into.getRef());
  });
  Value worthIt = width + 1 < kWidths && isFilled && mayBeNarrow(row, col, width)
                      ? isWorthNarrowing(row, col, width + 1)
                      : Value();
  auto emitOwn = [&] {
    std::vector<TileAxis> usual = axes_;
    if (width > 0)
      narrowTiles(row, col, width);
    width_ = width;
    emitGrid(stores);
    width_ = 0;
    axes_ = usual;
  };
  if (!worthIt)
    return emitOwn();
  arms_.widths += width == 0 ? 1 : 0;
  Location loc = loc_;
  auto branch = b_.create<scf::IfOp>(loc_, worthIt, /*withElseRegion=*/true);
  // Within a branch by pieces, the outer branch is the one that stands in the block of the loads.
  if (!branch_)
    branch_ = branch;
  b_.setInsertionPointToStart(branch.thenBlock());
  emitByWidth(stores, width + 1);
  b_.setInsertionPointToStart(branch.elseBlock());
  loc_ = loc;
  emitOwn();
}

} // namespace ptl::ir
