// Products of few tiles along a contracted axis whose length is known at launch only: pieces of this axis
// are multiplied by core groups of their own, and vector cores add what the pieces came to. Where
// lengths are known at compile time, `split_contractions` does this to the tensors, but for products of
// which a schedule says how many pieces there are.
#include "passes/transform/groups/chunk_pieces.h"

#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/expand/split_contractions.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/whole_storage.h"

#include "ir/dialect/attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace ptl::ir {

/// Pieces begin at multiples of this, where boxes of every element type begin.
static constexpr int64_t kPieceUnit = 64;
/// Of long programs so many products have an arm for pieces.
static constexpr unsigned kSplitGrids = 8;
/// With more tiles than this share of the core groups, cores are busy without pieces.
static constexpr int64_t kBusyShare = 4;

/// The only product of the group if its contraction may be cut: all else are steps from element to
/// element, which can be taken when the pieces have been added.
MatmulOp PiecesEmitter::contractionToCut() const {
  if (!machine_ || coreGroupsOf(*machine_) < 2 || groups_.size() != 1 || !group_->hasProduct())
    return {};
  MatmulOp product;
  for (Operation *op : group_->members()) {
    auto own = dyn_cast<MatmulOp>(op);
    if ((own && product) || (!own && !isElementwise(op) && !isFill(op)))
      return {};
    product = own ? own : product;
  }
  if (!product)
    return {};
  // Where a schedule says how it is computed, the contraction is cut only if it says this, too.
  std::optional<int64_t> asked = scheduledChunks(product);
  if (asked ? *asked < 2 : llvm::any_of(group_->members(), isScheduled))
    return {};
  for (size_t id = 0; id < group_->numAxes() && !asked; ++id)
    if (scheduledStep(*group_, static_cast<int64_t>(id)))
      return {};
  // Sums of pieces that are rounded to a shorter type would differ from the whole sum.
  Type summed = elementTypeOf(product->getResult(0).getType());
  bool isExact = summed.isF32() || summed.isInteger(32);
  return isExact && product.getScales().empty() && isProductOf(product, *machine_) ? product
                                                                                   : MatmulOp();
}

/// The positions of a tile along an axis of the result: with pieces, all tiles have the usual size.
int64_t PiecesEmitter::pieceStep(int64_t id) const {
  if (std::optional<int64_t> step = scheduledStep(*group_, id))
    return *step;
  TileSizes sizes = sizes_.halved(halvings_);
  switch (axis(id).role) {
  case TileAxis::Row:
    return sizes.productM;
  case TileAxis::Col:
    return sizes.productN;
  case TileAxis::Single:
    return 1;
  }
  llvm_unreachable("axes of tiles have a role");
}

void PiecesEmitter::setStep(int64_t id, int64_t step) {
  const Extent &whole = group_->axis(id).extent;
  TileAxis &own = axis(id);
  own.step = step;
  own.stepValue = {};
  own.isChunked = own.role == TileAxis::Single
                      ? !whole.isOne()
                      : whole.capacity == Extent::kUnknown || whole.capacity > step;
  own.position = own.isChunked ? Value() : constant(0);
  own.tile = own.isChunked ? Value() : own.length;
  if (!own.isChunked && own.role != TileAxis::Single)
    own.extent =
        whole.isConstant() ? whole : Extent::named(b_.getStringAttr(tileName(id)), whole.capacity);
}

/// How many tiles the result has, where the builder is.
Value PiecesEmitter::countOfTiles() {
  Value tiles = constant(1);
  for (int64_t id : group_->parallel()) {
    int64_t step = pieceStep(id);
    tiles =
        b_.createOrFold<arith::MulIOp>(loc_, tiles, ceilQuotient(b_, loc_, axis(id).length, step));
  }
  return tiles;
}

/// Whether the contracted axis is so long, and tiles so few, that pieces take less time; null: never.
Value PiecesEmitter::isWorthSplitting(MatmulOp product, int64_t cut) {
  if (scheduledChunks(product))
    return b_.create<arith::ConstantIntOp>(loc_, 1, 1);
  std::optional<int64_t> least = leastSplitLength(product, *machine_);
  const Extent &extent = group_->axis(cut).extent;
  if (!least || arms_.contractions >= kSplitGrids ||
      (extent.capacity != Extent::kUnknown && extent.capacity < *least) ||
      !isProductOfDims(axis(cut).length) || !llvm::all_of(group_->parallel(), [&](int64_t id) {
        return isProductOfDims(axis(id).length);
      }))
    return {};
  Value few = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, countOfTiles(),
                                             constant(coreGroupsOf(*machine_) / kBusyShare));
  Value isLong = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge, axis(cut).length,
                                                constant(*least));
  return b_.createOrFold<arith::AndIOp>(loc_, few, isLong);
}

/// Tiles of the usual size for pieces, and the axes that the group lacks.
void PiecesEmitter::cutContraction(MatmulOp product, int64_t cut) {
  cut_ = cut;
  // What is written anew in the grids is cut already.
  std::optional<int64_t> asked = takeChunks(product);
  isAsked_ = asked.has_value();
  count_ = asked.value_or(coreGroupsOf(*machine_));
  for (int64_t id : group_->parallel())
    setStep(id, pieceStep(id));
  point_ = static_cast<int64_t>(axes_.size());
  parts_ = point_ + 1;
  axes_.resize(axes_.size() + 2);
  axis(point_).length = axis(parts_).length = constant(count_);
  axis(parts_).role = TileAxis::Row;
}

/// Places the piece of the contraction that the grid is at. Pieces are so long that all core groups have one; with several tiles there
/// are fewer of them than points, and the last ones are empty: their products are zeros, so that all of the storage is written. A
/// schedule says how many there are, whatever the number of tiles.
void PiecesEmitter::placePiece() {
  TileAxis &own = axis(cut_);
  // As sums of products, which is how lengths are written as source.
  auto times = [&](Value a, Value b) { return b_.createOrFold<arith::MulIOp>(loc_, a, b); };
  auto plus = [&](Value a, Value b) { return b_.createOrFold<arith::AddIOp>(loc_, a, b); };
  Value begin, most;
  if (isAsked_) {
    Value units = ceilQuotient(b_, loc_, own.length, count_ * kPieceUnit);
    begin = times(times(axis(point_).position, constant(kPieceUnit)), units);
    most = times(units, constant(kPieceUnit));
  } else {
    // A result without elements has no tiles, and one with many has more of them than there are core groups.
    Value tiles = b_.createOrFold<arith::MaxSIOp>(loc_, countOfTiles(), constant(1));
    Value pieces = b_.createOrFold<arith::DivSIOp>(loc_, constant(count_), tiles);
    pieces = b_.createOrFold<arith::MaxSIOp>(loc_, pieces, constant(1));
    Value all = times(pieces, constant(kPieceUnit));
    Value units =
        b_.createOrFold<arith::DivSIOp>(loc_, own.length, all); // of a piece, and one more
    Value scaled = times(axis(point_).position, constant(kPieceUnit));
    begin = plus(scaled, times(scaled, units));
    most = plus(times(units, constant(kPieceUnit)), constant(kPieceUnit));
  }
  own.position = b_.createOrFold<arith::MinSIOp>(loc_, begin, own.length);
  Value rest = b_.createOrFold<arith::SubIOp>(loc_, own.length, own.position);
  own.tile = b_.createOrFold<arith::MinSIOp>(loc_, most, rest);
  own.extent = Extent::named(b_.getStringAttr(tileName(cut_)), Extent::kUnknown);
}

/// The grid of the pieces: each of its points stores what one piece comes to.
void PiecesEmitter::emitProducts(MatmulOp product) {
  loc_ = block::withoutName(product.getLoc());
  Stored parts = storeOfParts(product);
  TileAxis whole = axis(cut_);
  along_ = point_;
  openGrid();
  members_.emplace_back();
  operands_.emplace_back();
  placePiece();
  storeTile(tileOf(product), parts.store, partsMap(product, point_));
  b_.create<YieldOp>(loc_);
  b_.setInsertionPointAfter(grid_);
  members_.clear();
  operands_.clear();
  along_ = kWhole;
  axis(cut_) = whole;
  keepParts(product, parts);
}

/// Rows of the result come one at a time when pieces are added, so that one load has what all pieces
/// came to for it.
void PiecesEmitter::emitContraction(MatmulOp product, int64_t cut, StoreOp into) {
  into_ = into;
  cutContraction(product, cut);
  emitProducts(product);
  for (int64_t id : group_->parallel()) {
    bool isCol = axis(id).role == TileAxis::Col;
    axis(id).role = isCol ? TileAxis::Col : TileAxis::Single;
    auto most = static_cast<uint64_t>(std::max<int64_t>(sizes_.bytes / 4 / count_, 16));
    setStep(id, isCol ? static_cast<int64_t>(llvm::bit_floor(most)) : 1);
  }
  loc_ = group_->root()->getLoc();
  inGrid(kWhole, [&] {
    Value sum = joinParts(product);
    members_.back()[product] = sum;
    storeRoot(into);
  });
}

} // namespace ptl::ir
