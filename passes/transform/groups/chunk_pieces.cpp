#include "passes/transform/groups/chunk_pieces.h"
#include "passes/transform/groups/chunk_tiles.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/combiners.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/SaveAndRestore.h"

#include <numeric>

using namespace mlir;

namespace ptl::ir {

int64_t vectorCoresOf(const Machine &machine) {
  const MachineCore *core = machine.core("aiv");
  return core ? core->count : 0;
}

bool isProductOfDims(Value length) {
  if (auto times = length.getDefiningOp<arith::MulIOp>())
    return isProductOfDims(times.getLhs()) && isProductOfDims(times.getRhs());
  // An equal share of a dimension, as of channels in groups.
  if (auto share = length.getDefiningOp<arith::FloorDivSIOp>())
    return getConstantIntValue(share.getRhs()) && isProductOfDims(share.getLhs());
  if (auto dim = length.getDefiningOp<DimOp>())
    return isa<BlockArgument>(dim.getSource());
  return getConstantIntValue(length) || isa<BlockArgument>(length);
}

/// A length as a number times what is left of it; null: nothing.
static std::pair<int64_t, Value> factorsOf(OpBuilder &b, Value length) {
  if (std::optional<int64_t> number = getConstantIntValue(length))
    return {*number, Value()};
  auto times = length.getDefiningOp<arith::MulIOp>();
  if (!times)
    return {1, length};
  auto [first, left] = factorsOf(b, times.getLhs());
  auto [second, right] = factorsOf(b, times.getRhs());
  if (first * second == 1)
    return {1, length};
  Value rest = left && right ? b.createOrFold<arith::MulIOp>(length.getLoc(), left, right)
                             : (left ? left : right);
  return {first * second, rest};
}

Value ceilQuotient(OpBuilder &b, Location loc, Value length, int64_t by) {
  auto constant = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); };
  // What number and divisor have in common goes, as it does where the quotient is read from source.
  if (auto [number, rest] = factorsOf(b, length); rest && number > 1) {
    int64_t common = std::gcd(number, by);
    by /= common;
    length = number == common ? rest
                              : b.createOrFold<arith::MulIOp>(loc, rest, constant(number / common));
  }
  if (by == 1)
    return length;
  Value up = b.createOrFold<arith::AddIOp>(loc, length, constant(by - 1));
  return b.createOrFold<arith::FloorDivSIOp>(loc, up, constant(by));
}

/// Whether the host computes a condition of a check from elements of storage: requirements of entries
/// are, which are written in their headers.
static bool isChecked(Value storage) {
  llvm::SetVector<Value> known;
  known.insert(storage);
  for (size_t i = 0; i < known.size(); ++i)
    for (Operation *user : known[i].getUsers()) {
      if (isa<CheckOp>(user))
        return true;
      if (isa<DimOp>(user) || user->getParentOfType<ParallelOp>())
        continue;
      for (Value result : user->getResults())
        if (rankOf(result.getType()) == 0 || isa<LoadOp, SliceOp>(user))
          known.insert(result);
    }
  return false;
}

/// The axes that may be cut, the best one first: all that the group folds or scans in chunks goes along each of them.
PiecesEmitter::Loops PiecesEmitter::axesToCut() const {
  Operation *root = group_->root();
  // Pieces go to vector cores that are idle: products need the cube core, and a schedule may have
  // distributed the work.
  if (!machine_ || vectorCoresOf(*machine_) < 2 || groups_.size() != 1 || group_->hasProduct() ||
      (isScan(root) && !isCumulative(root)) || attrs::cores.of(root))
    return {};
  for (size_t id = 0; id < group_->numAxes(); ++id)
    // A schedule has chosen the tiles, which pieces would change.
    if (scheduledStep(*group_, static_cast<int64_t>(id)))
      return {};
  llvm::SmallVector<Loops> all;
  for (Operation *op : group_->members()) {
    Loops ids;
    if (isReduction(op))
      ids = chunked(group_->foldedBy(op));
    else if (isScan(op))
      ids = chunked({group_->mapOf(op)[axisAlong(op)]});
    // Searches would have to join positions, too.
    if (isReduction(op) && op->hasAttr("axis") && !ids.empty())
      return {};
    if (!ids.empty())
      all.push_back(ids);
  }
  if (all.empty())
    return {};
  Loops cuts;
  // Only an axis that is in every loop gives pieces that all members can be computed for.
  llvm::copy_if(all.front(), std::back_inserter(cuts), [&](int64_t id) {
    return llvm::all_of(all, [&](const Loops &ids) { return llvm::is_contained(ids, id); });
  });
  // The longest one, as far as lengths are known.
  auto lengthOf = [&](int64_t id) {
    const Extent &extent = group_->axis(id).extent;
    return extent.isConstant() ? extent.length / axis(id).step : 0;
  };
  llvm::stable_sort(cuts, [&](int64_t a, int64_t b) { return lengthOf(a) > lengthOf(b); });
  // Where the first one is known to be long there is nothing to choose.
  if (!cuts.empty() && lengthOf(cuts.front()) > 0)
    cuts.resize(1);
  return cuts;
}

/// Whether each position of an axis is folded to a few numbers along others, so that a piece may be one of them. Else what pieces of
/// single positions come to would be as much as there was.
static bool foldsPositions(const OpGroup &group, const TileAxis &own, int64_t cut) {
  return own.role == TileAxis::Single && !isScan(group.root()) &&
         llvm::all_of(group.members(), [&](Operation *op) {
           return !isReduction(op) || !llvm::is_contained(group.foldedBy(op), cut) ||
                  group.foldedBy(op).size() > 1;
         });
}

/// Where pieces begin, memory is read from the begin of a block.
static int64_t unitOf(const OpGroup &group, const TileAxis &own, int64_t cut) {
  return own.role == TileAxis::Col ? 16 : foldsPositions(group, own, cut) ? 1 : 8;
}

/// The lengths of axes without tiles that a fold in pieces goes along besides the one that is cut.
static llvm::SmallVector<Value> foldedBeside(const OpGroup &group, llvm::ArrayRef<TileAxis> axes,
                                             int64_t cut) {
  llvm::SmallVector<Value> lengths;
  for (Operation *op : group.members()) {
    if (!isReduction(op) || !llvm::is_contained(group.foldedBy(op), cut))
      continue;
    for (int64_t id : group.foldedBy(op)) {
      const TileAxis &own = axes[static_cast<size_t>(id)];
      if (id != cut && own.role == TileAxis::Single && isProductOfDims(own.length))
        lengths.push_back(own.length);
    }
    break;
  }
  return lengths;
}

static Value atLeast(OpBuilder &b, Value length, int64_t least) {
  Location loc = length.getLoc();
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, length,
                                       b.create<arith::ConstantIndexOp>(loc, least));
}

/// Whether `count` pieces of this length are worth a grid of their own, where a whole axis of `least` positions is. What is folded along
/// other axes, too, is as much more.
static Value isLongEnough(OpBuilder &b, Value piece, llvm::ArrayRef<Value> beside, int64_t unit,
                          int64_t count, int64_t least) {
  int64_t units = std::max<int64_t>(2, least / (count * unit) + 1);
  if (beside.empty())
    return atLeast(b, piece, units * unit);
  Location loc = piece.getLoc();
  Value times = beside.front();
  for (Value length : beside.drop_front())
    times = b.createOrFold<arith::MulIOp>(loc, times, length);
  Value all = b.createOrFold<arith::MulIOp>(loc, times, piece);
  // Rows of a memory are read faster if they are not too short.
  constexpr int64_t leastUnits = 4;
  return b.createOrFold<arith::AndIOp>(loc, atLeast(b, piece, std::min(units, leastUnits) * unit),
                                       atLeast(b, all, units * unit));
}

/// Whether the axis is so long, and other tiles so few, that pieces take less time; null: never.
Value PiecesEmitter::isWorthCutting(int64_t cut) {
  // Tiles stay as they are where an axis without tiles is cut, so that more of them still gain by it.
  bool isSingle = foldsPositions(*group_, axis(cut), cut);
  int64_t share = isSingle ? 2 : 4;
  // Each grid more takes as long as a few chunks, of which those of scans take longest.
  int64_t leastChunks = isScan(group_->root()) ? 1 : 16;
  int64_t least = leastChunks * axis(cut).step, cores = vectorCoresOf(*machine_);
  const Extent &extent = group_->axis(cut).extent;
  if (extent.capacity != Extent::kUnknown && extent.capacity < least)
    return {};
  llvm::SmallVector<int64_t> others = gridAxes();
  if (!isProductOfDims(axis(cut).length) ||
      !llvm::all_of(others, [&](int64_t id) { return isProductOfDims(axis(id).length); }))
    return {};
  Value tiles = constant(1);
  for (int64_t id : others) {
    int64_t step = axis(id).step;
    tiles =
        b_.createOrFold<arith::MulIOp>(loc_, tiles, ceilQuotient(b_, loc_, axis(id).length, step));
  }
  // With more tiles than this, the cores are busy without pieces.
  Value few = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, tiles,
                                             constant(cores / share));
  cut_ = cut;
  count_ = cores;
  Value isLong = isSingle ? atLeast(b_, axis(cut).length, least)
                          : isLongEnough(b_, lengthOfPiece(), foldedBeside(*group_, axes_, cut),
                                         unitOf(*group_, axis(cut), cut), cores, least);
  cut_ = kWhole;
  return b_.createOrFold<arith::AndIOp>(loc_, few, isLong);
}

llvm::SmallVector<int64_t> PiecesEmitter::gridAxes() const {
  llvm::SmallVector<int64_t> ids = ChunkEmitter::gridAxes();
  if (along_ == kWhole)
    return ids;
  // Of products the last pieces may be empty, so core groups get all tiles of one piece before the next one.
  ids.insert(group_->hasProduct() ? ids.begin() : ids.end(), along_);
  return ids;
}

void PiecesEmitter::emitCode(llvm::ArrayRef<RootStores> stores) {
  StoreOp into = stores.front().front();
  MatmulOp product = contractionToCut();
  // Texts at block level would check in which part a scan of positions is.
  bool mayCut = !isScan(group_->root()) || !isChecked(into.getRef());
  Loops cuts;
  if (!product && mayCut)
    cuts = axesToCut();
  // A contraction over one position has no axis.
  if (product && group_->operandMap(product, 0).back() != kWhole)
    cuts.push_back(group_->find(group_->operandMap(product, 0).back()));
  emitCuts(stores, product, cuts);
}

/// Arms for the axes that may be cut, each for lengths at which it is worth it and no earlier one is.
void PiecesEmitter::emitCuts(llvm::ArrayRef<RootStores> stores, MatmulOp product,
                             llvm::ArrayRef<int64_t> cuts) {
  if (cuts.empty())
    return emitByWidth(stores);
  StoreOp into = stores.front().front();
  int64_t cut = cuts.front();
  Value worthIt = product ? isWorthSplitting(product, cut) : isWorthCutting(cut);
  auto inPieces = [&] {
    if (product)
      return emitContraction(product, cut, into);
    cutAxis(cut);
    emitInPieces(stores.front());
  };
  std::optional<int64_t> known = worthIt ? getConstantIntValue(worthIt) : 0;
  if (known && *known == 0)
    return emitCuts(stores, product, cuts.drop_front());
  // Cutting changes steps and positions, and the other arm needs them as they were.
  std::vector<TileAxis> whole = axes_;
  if (known)
    return inPieces();
  arms_.contractions += product ? 1 : 0;
  auto branch = b_.create<scf::IfOp>(loc_, worthIt, /*withElseRegion=*/true);
  if (!branch_)
    branch_ = branch;
  b_.setInsertionPointToStart(branch.thenBlock());
  Location loc = loc_;
  inPieces();
  b_.setInsertionPointToStart(branch.elseBlock());
  loc_ = loc;
  axes_ = whole;
  cut_ = kWhole;
  made_.clear();
  emitCuts(stores, product, cuts.drop_front());
}

/// Where what the pieces of an axis without tiles come to has its number, so that all of it is one tile:
/// along rows or columns, where a result of the folds has none and the tile is no larger than others.
static TileAxis::Role roleForParts(const OpGroup &group, llvm::ArrayRef<TileAxis> axes, int64_t cut,
                                   int64_t count) {
  // A scan needs those before its piece alone.
  if (isScan(group.root()))
    return TileAxis::Single;
  int64_t steps[] = {1, 1}; // along rows and columns
  bool isTaken[] = {false, false};
  constexpr TileAxis::Role roles[] = {TileAxis::Row, TileAxis::Col};
  auto has = [&](int64_t id, TileAxis::Role role) {
    return id != kWhole && id != cut && axes[static_cast<size_t>(group.find(id))].role == role;
  };
  for (auto [number, role] : llvm::enumerate(roles)) {
    for (int64_t id = 0; id < static_cast<int64_t>(group.numAxes()); ++id)
      if (group.find(id) == id && has(id, role))
        steps[number] = std::max(steps[number], axes[static_cast<size_t>(id)].step);
    for (Operation *op : group.members())
      isTaken[number] |= isReduction(op) &&
                         llvm::any_of(group.mapOf(op), [&](int64_t id) { return has(id, role); });
  }
  if (!isTaken[1] && count <= steps[1])
    return TileAxis::Col;
  return !isTaken[0] && count <= steps[0] ? TileAxis::Row : TileAxis::Single;
}

/// Tiles of a size for pieces, and the axes that the group lacks.
void PiecesEmitter::cutAxis(int64_t cut) {
  cut_ = cut;
  fitSteps();
  point_ = static_cast<int64_t>(axes_.size());
  parts_ = point_ + 1;
  axes_.resize(axes_.size() + 2);
  TileAxis &point = axis(point_), &parts = axis(parts_);
  point.length = parts.length = constant(count_);
  parts.role = axis(cut).role == TileAxis::Single ? roleForParts(*group_, axes_, cut, count_)
                                                  : axis(cut).role;
  parts.step = parts.role == TileAxis::Single ? 1 : count_;
}

/// How long a piece is, where the builder is.
Value PiecesEmitter::lengthOfPiece() {
  const TileAxis &own = axis(cut_);
  int64_t unit = unitOf(*group_, axis(cut_), cut_), all = count_ * unit;
  Value units = ceilQuotient(b_, loc_, own.length, all);
  return b_.createOrFold<arith::MulIOp>(loc_, units, constant(unit));
}

/// A tile of what all pieces came to has to fit beside what is folded.
void PiecesEmitter::fitSteps() {
  int64_t beside = kWhole, elements = axis(cut_).step;
  for (int64_t id = 0; id < static_cast<int64_t>(axes_.size()); ++id)
    if (id != cut_ && group_->find(id) == id && axis(id).role != TileAxis::Single) {
      beside = id;
      elements *= std::max<int64_t>(axis(id).step, 1);
    }
  if (beside == kWhole || axis(cut_).role == TileAxis::Single)
    return;
  auto most = [&](int64_t width) {
    return static_cast<int64_t>(
        llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(elements / width, 1))));
  };
  // Columns beside a long axis of rows are few, so that many rows come at a time.
  TileAxis &other = axis(beside);
  if (int64_t step = most(count_); step < other.step) {
    other.step = step;
    other.isChunked = true;
    other.position = other.tile = {};
  }
  // A row takes memory in units of 16 elements, however few columns it has.
  if (axis(cut_).role == TileAxis::Row)
    axis(cut_).step = std::max(axis(cut_).step, most((other.step + 15) / 16 * 16));
}

/// Within a loop along the axis that is cut, the piece that the grid is at is all there is of it.
void PiecesEmitter::inLoops(llvm::ArrayRef<int64_t> ids, ValueRange carried,
                            llvm::function_ref<llvm::SmallVector<Value>(ValueRange)> body,
                            llvm::SmallVectorImpl<Value> &results) {
  if (llvm::is_contained(ids, cut_))
    enterPiece();
  ChunkEmitter::inLoops(ids, carried, body, results);
}

/// A grid of its own, along the group's axes and, if it is said how, along pieces: by their numbers, or
/// by positions of the axis that is cut.
void PiecesEmitter::inGrid(int64_t along, llvm::function_ref<void()> body) {
  TileAxis whole = axis(cut_);
  along_ = along;
  if (along == cut_)
    axis(along).stepValue = pieceLength_ = lengthOfPiece();
  openGrid();
  members_.emplace_back();
  operands_.emplace_back();
  // What earlier grids have left of reductions is joined at each point of a later grid: the parts are few, and a grid that only joins them
  // would cost another launch.
  for (const auto &[op, array] : made_)
    if (isReduction(op)) {
      Value joined = joinParts(op);
      members_.back()[op] = joined;
    }
  body();
  b_.create<YieldOp>(loc_);
  b_.setInsertionPointAfter(grid_);
  members_.clear();
  operands_.clear();
  axis(cut_) = whole;
  along_ = kWhole;
}

/// Has loops along the axis that is cut go along the piece that the grid is at.
void PiecesEmitter::enterPiece() {
  TileAxis &own = axis(cut_);
  // A second loop in the same grid goes along the same piece, which has been entered already.
  if (along_ == kWhole || own.begin)
    return;
  if (along_ == cut_) {
    own.begin = own.position;
    own.length = b_.createOrFold<arith::AddIOp>(loc_, own.position, own.tile);
  } else {
    Value length = lengthOfPiece();
    own.begin = b_.createOrFold<arith::MulIOp>(loc_, length, axis(point_).position);
    Value end = b_.createOrFold<arith::AddIOp>(loc_, length, own.begin);
    own.length = b_.createOrFold<arith::MinSIOp>(loc_, end, own.length);
  }
  own.stepValue = own.position = own.tile = {};
}

/// The number of the piece that the grid is at.
Value PiecesEmitter::presentPiece() {
  return b_.createOrFold<arith::DivSIOp>(loc_, axis(cut_).position, pieceLength_);
}

/// The axes of what a piece comes to: those of the result without the axis that is cut.
AxisMap PiecesEmitter::partMap(Operation *op) const {
  AxisMap map = group_->mapOf(op);
  // A piece comes to one element along the axis that is cut.
  for (int64_t &id : map)
    id = id == cut_ ? kWhole : id;
  return map;
}

/// The axes of the array of what pieces come to, where `pieces` stands for the number of the piece.
AxisMap PiecesEmitter::partsMap(Operation *op, int64_t pieces) const {
  AxisMap map = partMap(op);
  map.insert(map.begin(), pieces);
  return map;
}

/// The present piece of what the root scans, folded.
Value PiecesEmitter::foldToPart(Operation *scan) {
  llvm::StringRef combiner = combinerOf(scan);
  Type elem = elementTypeOf(scan->getResult(0).getType());
  llvm::SmallVector<Value> last;
  inLoops(
      {cut_}, identity(combiner, elem, partMap(scan)),
      [&](ValueRange carried) {
        return llvm::SmallVector<Value>{make(combiner, elem, {carried[0], foldScanned(scan)})};
      },
      last);
  return last.front();
}

PiecesEmitter::Stored PiecesEmitter::storeOfParts(Operation *op) {
  // Pieces are no values of the source, so they have no name of one.
  loc_ = block::withoutName(op->getLoc());
  Value result = op->getResult(0);
  auto type = cast<ArrayType>(result.getType());
  llvm::SmallVector<Extent> extents{Extent::constant(count_)};
  llvm::SmallVector<Value> named;
  for (auto [number, id] : llvm::enumerate(partMap(op))) {
    extents.push_back(id == kWhole ? Extent::constant(1) : type.getExtents()[number]);
    if (!extents.back().isConstant())
      named.push_back(lengthOf(b_, result, static_cast<int64_t>(number)));
  }
  ArrayType parts = arrayTypeOf(type.getElementType(), extents);
  return {parts, storeWhole(b_, loc_, result, allocateStorage(b_, loc_, parts, named))};
}

void PiecesEmitter::keepParts(Operation *op, const Stored &parts) {
  StoreOp store = parts.store;
  made_[op] = loadWhole(b_, store.getLoc(), store.getRef(), parts.type);
  store.erase();
}

/// A grid that folds the pieces, for all of these operations: reductions that do not depend on each
/// other, or the scan.
void PiecesEmitter::emitParts(llvm::ArrayRef<Operation *> ops) {
  llvm::SmallVector<Stored> stored;
  for (Operation *op : ops)
    stored.push_back(storeOfParts(op));
  inGrid(point_, [&] {
    if (isReduction(ops.front()))
      reduceLevel(ops);
    for (auto [op, parts] : llvm::zip(ops, stored)) {
      loc_ = block::withoutName(op->getLoc());
      Value part = isReduction(op) ? tileOf(op) : foldToPart(op);
      storeTile(spread(part, partMap(op)), parts.store, partsMap(op, point_));
    }
  });
  for (auto [op, parts] : llvm::zip(ops, stored))
    keepParts(op, parts);
}

/// A tile of an array in memory, with the rows and columns of the present one.
static Access taggedAccess(Value array, const AxisMap &map, llvm::ArrayRef<TileAxis> axes) {
  Access access = accessTo(array, map);
  for (AxisAccess &own : access.axes)
    if (own.id != kWhole && !axes[static_cast<size_t>(own.id)].extent.isOne())
      own.tag = axes[static_cast<size_t>(own.id)].role;
  return access;
}

/// What all pieces came to, or those before one.
Value PiecesEmitter::joinParts(Operation *op, Value upTo) {
  llvm::SaveAndRestore saved(loc_);
  loc_ = op->getLoc();
  llvm::StringRef combiner = isProduct(op) ? AddOp::getOperationName() : combinerOf(op);
  Type elem = elementTypeOf(op->getResult(0).getType());
  AxisMap map = partsMap(op, parts_);
  TileAxis::Role role = axis(parts_).role;
  auto present = [&] { return load(taggedAccess(made_[op], map, axes_)); };
  // All parts together fit one tile, of which one reduction makes the result; those before a piece
  // are of another number for each piece, and are combined in a loop.
  if (!upTo && role != TileAxis::Single) {
    TileAxis &parts = axis(parts_);
    parts.position = constant(0);
    parts.tile = constant(count_);
    parts.extent = Extent::constant(count_);
    return foldAlong(b_, loc_, present(), combiner, role);
  }
  // In front of the first piece there are no parts, so the loop gives the identity.
  TileAxis whole = axis(parts_);
  if (upTo)
    axis(parts_).length = upTo;
  llvm::SmallVector<Value> joined;
  inLoops(
      {parts_}, identity(combiner, elem, partMap(op)),
      [&](ValueRange carried) {
        Value tile = present();
        if (role != TileAxis::Single)
          tile = foldAlong(b_, loc_, tile, combiner, role);
        return llvm::SmallVector<Value>{make(combiner, elem, {carried[0], tile})};
      },
      joined);
  axis(parts_) = whole;
  return joined.front();
}

void PiecesEmitter::emitInPieces(const RootStores &stores) {
  Operation *root = group_->root();
  StoreOp into = into_ = stores.front();
  memberStores_.assign(stores.begin() + 1, stores.end());
  for (const llvm::SmallVector<Operation *> &reductions : reductionsByLevel(*group_)) {
    llvm::SmallVector<Operation *> cut;
    llvm::copy_if(reductions, std::back_inserter(cut),
                  [&](Operation *op) { return llvm::is_contained(group_->foldedBy(op), cut_); });
    if (!cut.empty())
      emitParts(cut);
  }
  // What a scan comes to in each piece is known only after all pieces have been folded, so the scan itself goes over its operands once
  // more. One along another axis is computed of what the pieces came to.
  bool scansPieces = isScan(root) && group_->mapOf(root)[axisAlong(root)] == cut_;
  if (scansPieces)
    emitParts(root);
  loc_ = root->getLoc();
  bool goesAlong = llvm::is_contained(group_->mapOf(root), cut_);
  llvm::SmallVector<Value> written = written_;
  llvm::MapVector<Operation *, Value> stored;
  // A grid with a point for each piece would store once for each of them what is known of all together.
  if (goesAlong)
    stored = storeBefore();
  loc_ = root->getLoc();
  inGrid(goesAlong ? cut_ : kWhole, [&] {
    for (const auto &[op, array] : stored) {
      Value tile = load(taggedAccess(array, group_->mapOf(op), axes_));
      members_.back()[op] = tile;
    }
    if (!goesAlong)
      storeMembers(/*likeRoot=*/false);
    loc_ = root->getLoc();
    storeRoot(into, scansPieces ? joinParts(root, presentPiece()) : Value());
  });
  written_ = written;
}

/// Stores the members that pieces are not part of in a grid of their own. Returns them as arrays that later grids load.
llvm::MapVector<Operation *, Value> PiecesEmitter::storeBefore() {
  llvm::MapVector<Operation *, Value> arrays;
  AxisMap ofRoot = group_->mapOf(group_->root());
  for (auto [op, store] : llvm::zip_equal(group_->stored(), memberStores_))
    if (group_->mapOf(op) != ofRoot)
      arrays[op] = {};
  if (arrays.empty())
    return arrays;
  inGrid(kWhole, [&] { storeMembers(/*likeRoot=*/false); });
  for (auto [op, store] : llvm::zip_equal(group_->stored(), memberStores_)) {
    if (!arrays.contains(op))
      continue;
    bool isPlain = store.getSteps().empty() && elementTypeOf(store.getRef().getType()) ==
                                                   elementTypeOf(op->getResult(0).getType());
    if (!isPlain) {
      arrays.erase(op);
      continue;
    }
    arrays[op] = b_.create<LoadOp>(op->getLoc(), op->getResult(0).getType(), store.getRef(),
                                   store.getOffsets(), store.getLengths(), ValueRange(), Value(),
                                   store.getDroppedAttr());
    // The next grid reads it only.
    llvm::erase(written_, store.getRef());
  }
  return arrays;
}

} // namespace ptl::ir
